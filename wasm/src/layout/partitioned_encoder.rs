//! Rows of many partitions into one Parquet file each. All rows wait, and files are then written one after the
//! other, so that only one is open: a thousand open files would need a thousand times the pages and dictionaries.
//! When the waiting rows fill their share of the memory they are handed to the host by partition, as Arrow IPC,
//! and come back when their file's turn has come.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave_record_batch;
use serde_json::Value;

use crate::encode::{Encoder, slice_bytes};
use crate::encode_options::EncodeOptions;
use crate::error::{KernelError, Result};
use crate::layout::partition::Partitioner;
use crate::project::project;
use crate::schema::Schema;

/// Rows gathered at once for a file.
const GATHER_ROWS: usize = 4096;

/// `ParquetOptions.partitioning` of the host.
pub struct PartitionOptions {
    pub spec: Value,
    /// Of waiting rows, as Arrow.
    pub buffer_bytes_max: usize,
    pub partitions_max: usize,
}

impl PartitionOptions {
    pub fn parse(json: &Value) -> Result<Self> {
        let number = |name: &str| {
            let value = json.get(name).and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
            value.filter(|value| *value > 0).ok_or_else(|| {
                KernelError::invalid("parquet.invalid-option", format!("{name} must be a positive number"))
            })
        };
        Ok(Self {
            spec: json.get("spec").cloned().unwrap_or_default(),
            buffer_bytes_max: number("bufferBytesMax")?,
            partitions_max: number("partitionsMax")?,
        })
    }
}

/// Takes the rows of a partition, by number, as an Arrow IPC stream.
pub type Spill = Box<dyn FnMut(u32, &[u8])>;

pub struct PartitionedEncoder<W: Write + Send> {
    schema: Schema,
    arrow_schema: SchemaRef,
    options: EncodeOptions,
    partitioner: Partitioner,
    buffer_bytes_max: usize,
    batches: Vec<RecordBatch>,
    buffered_rows: usize,
    buffered_bytes: usize,
    /// By partition: batch and row of what waits here.
    places: Vec<Vec<(usize, usize)>>,
    spill: Spill,
    open: Option<(usize, Encoder<W>)>,
}

impl<W: Write + Send> PartitionedEncoder<W> {
    pub fn new(schema_json: &str, options: EncodeOptions, partitioning: &PartitionOptions, spill: Spill) -> Result<Self> {
        let schema = Schema::parse(schema_json)?;
        Ok(Self {
            arrow_schema: Arc::new(schema.to_arrow()),
            partitioner: Partitioner::new(&schema, &partitioning.spec, partitioning.partitions_max)?,
            schema,
            options,
            buffer_bytes_max: partitioning.buffer_bytes_max,
            batches: Vec::new(),
            buffered_rows: 0,
            buffered_bytes: 0,
            places: Vec::new(),
            spill,
            open: None,
        })
    }

    /// Adds rows; while a partition's file is open, rows of that partition that were handed out before.
    pub fn append_ipc(&mut self, ipc: &[u8]) -> Result<()> {
        for batch in StreamReader::try_new(ipc, None)? {
            match &mut self.open {
                Some((_, encoder)) => encoder.append(&batch?)?,
                None => self.append(&batch?)?,
            }
        }
        Ok(())
    }

    pub fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = project(batch, &self.arrow_schema)?;
        let (index, places) = (self.batches.len(), &mut self.places);
        let mut row = 0;
        self.partitioner.place_rows(&batch, |partition| {
            let partition = partition as usize;
            if partition >= places.len() {
                places.resize_with(partition + 1, Vec::new);
            }
            places[partition].push((index, row));
            row += 1;
        })?;
        self.buffered_bytes += slice_bytes(&batch) + row * size_of::<(usize, usize)>();
        self.buffered_rows += row;
        self.batches.push(batch);
        if self.buffered_bytes >= self.buffer_bytes_max {
            self.spill_all()?;
        }
        Ok(())
    }

    pub fn buffered_bytes(&self) -> usize {
        self.buffered_bytes
    }

    pub fn partition_count(&self) -> usize {
        self.partitioner.values.len()
    }

    /// All of them: rows of one batch share its memory, which is free only when the last of them is gone.
    fn spill_all(&mut self) -> Result<()> {
        for partition in 0..self.places.len() {
            let places = std::mem::take(&mut self.places[partition]);
            if places.is_empty() {
                continue;
            }
            let mut writer = StreamWriter::try_new(Vec::new(), &self.arrow_schema)?;
            for places in places.chunks(GATHER_ROWS) {
                writer.write(&self.gather(places)?)?;
            }
            (self.spill)(partition as u32, &writer.into_inner()?);
        }
        self.forget_rows();
        Ok(())
    }

    fn forget_rows(&mut self) {
        self.batches.clear();
        self.buffered_rows = 0;
        self.buffered_bytes = 0;
    }

    fn gather(&self, places: &[(usize, usize)]) -> Result<RecordBatch> {
        let batches = self.batches.iter().collect::<Vec<_>>();
        Ok(interleave_record_batch(&batches, places)?)
    }

    /// Opens the file of a partition. No rows may come after the first such call but those handed out before.
    pub fn open(&mut self, partition: usize, sink: W) -> Result<()> {
        if partition >= self.partition_count() || self.open.is_some() {
            return Err(KernelError::internal("a partition's file cannot be opened"));
        }
        self.open = Some((partition, Encoder::new(&self.schema.json, self.options.clone(), sink)?));
        Ok(())
    }

    /// Ends the open file. Facts: an `EncodedFile` with the partition's values.
    pub fn finish(&mut self) -> Result<Value> {
        let opened = self.open.take();
        let (partition, mut encoder) = opened.ok_or_else(|| KernelError::internal("no partition's file is open"))?;
        let places = self.places.get_mut(partition).map(std::mem::take).unwrap_or_default();
        for places in places.chunks(GATHER_ROWS) {
            encoder.append(&self.gather(places)?)?;
        }
        self.buffered_rows -= places.len();
        if self.buffered_rows == 0 {
            self.forget_rows();
        }
        let mut facts = encoder.finish()?;
        facts["partition"] = self.partitioner.values[partition].clone();
        Ok(facts)
    }
}
