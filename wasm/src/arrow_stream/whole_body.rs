//! Parquet files and Arrow IPC files as bodies. What they hold is said at their end, so that they are held whole,
//! as they came; their rows are decoded a batch at a time.

use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{KernelError, Result};

/// Of one body.
const BYTES_MAX: usize = 16 << 20;
/// Rows of Parquet that are decoded at once.
const BATCH_ROWS: usize = 4096;

#[derive(Clone, Copy)]
pub enum FileFormat {
    Arrow,
    Parquet,
}

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

pub struct WholeBody {
    format: FileFormat,
    bytes: Vec<u8>,
    batches: Option<Batches>,
}

impl WholeBody {
    pub fn new(format: FileFormat) -> Self {
        Self { format, bytes: Vec::new(), batches: None }
    }

    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        if self.bytes.len() + chunk.len() > BYTES_MAX {
            let (code, name) = match self.format {
                FileFormat::Arrow => ("arrow.too-large", "an Arrow file"),
                FileFormat::Parquet => ("parquet.too-large", "a Parquet file"),
            };
            let message = format!("{name} is larger than {BYTES_MAX} bytes: send several smaller ones");
            return Err(KernelError::new("too-large", code, message).with("limit", BYTES_MAX));
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// All bytes are there. An empty body has no rows.
    pub fn finish(&mut self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let batches: Batches = match self.format {
            FileFormat::Arrow => {
                Box::new(FileReader::try_new(Cursor::new(bytes), None).map_err(|error| self.malformed(&error))?)
            }
            FileFormat::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(bytes);
                let reader = builder.and_then(|builder| builder.with_batch_size(BATCH_ROWS).build());
                Box::new(reader.map_err(|error| self.malformed(&error.into()))?)
            }
        };
        self.batches = Some(batches);
        Ok(())
    }

    /// The next rows; `None` at the end.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batches) = &mut self.batches else { return Ok(None) };
        // Batches without rows are no end.
        let next = batches.find(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0));
        next.transpose().map_err(|error| self.malformed(&error))
    }

    fn malformed(&self, error: &ArrowError) -> KernelError {
        match self.format {
            FileFormat::Arrow => KernelError::invalid("arrow.malformed", format!("not a readable Arrow file: {error}")),
            FileFormat::Parquet => {
                KernelError::invalid("parquet.malformed", format!("not a readable Parquet file: {error}"))
            }
        }
    }
}
