//! An Arrow IPC stream or file, or a Parquet file, fed in chunks, into slices of accepted and rejected rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, UInt32Array};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;
use arrow_select::take::take;
use serde_json::Value;

use crate::arrow_stream::append::{append_row, source_columns};
use crate::arrow_stream::pass::pass;
use crate::arrow_stream::types::match_fields;
use crate::arrow_stream::value::struct_json;
use crate::arrow_stream::whole_body::{FileFormat, WholeBody};
use crate::columns::StructColumns;
use crate::error::{KernelError, Result};
use crate::schema::{Field, Schema};
use crate::slice::{Limits, RejectedRow, Slice, cut_raw};

/// Bytes of one message: a record batch is held whole, and once more as columns.
const MESSAGE_BYTES_MAX: usize = 12 << 20;

pub struct ArrowDecoder {
    limits: Limits,
    source: Source,
    batches: Vec<RecordBatch>,
    /// Bytes of the stream that `batches` came in, and that came after them.
    batch_bytes: usize,
    open_bytes: usize,
    rows_before: u64,
    finished: bool,
    decoded_rows: Option<u64>,
    /// Found while looking for the next batch, where nobody could be told.
    failure: Option<KernelError>,
}

enum Source {
    Stream(StreamDecoder),
    File(WholeBody),
}

impl ArrowDecoder {
    pub fn stream(limits: Limits) -> Self {
        Self::new(limits, Source::Stream(StreamDecoder::new()))
    }

    pub fn file(limits: Limits) -> Self {
        Self::new(limits, Source::File(WholeBody::new(FileFormat::Arrow)))
    }

    pub fn parquet(limits: Limits) -> Self {
        Self::new(limits, Source::File(WholeBody::new(FileFormat::Parquet)))
    }

    fn new(limits: Limits, source: Source) -> Self {
        Self {
            limits,
            source,
            batches: Vec::new(),
            batch_bytes: 0,
            open_bytes: 0,
            rows_before: 0,
            finished: false,
            decoded_rows: None,
            failure: None,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        let decoder = match &mut self.source {
            Source::File(body) => return body.push(chunk),
            Source::Stream(decoder) => decoder,
        };
        let mut buffer = Buffer::from(chunk);
        while !buffer.is_empty() {
            let before = buffer.len();
            let batch = decoder.decode(&mut buffer).map_err(|error| malformed(&error))?;
            self.open_bytes += before - buffer.len();
            if let Some(batch) = batch {
                self.batch_bytes += std::mem::take(&mut self.open_bytes);
                if batch.num_rows() > 0 {
                    self.batches.push(batch);
                }
            }
            // Before the next chunk is copied: the copy may double the buffer.
            if self.open_bytes + chunk.len() > MESSAGE_BYTES_MAX {
                let message = format!("a record batch is larger than {MESSAGE_BYTES_MAX} bytes: send smaller ones");
                return Err(KernelError::new("too-large", "arrow.batch-too-large", message).with("limit", MESSAGE_BYTES_MAX));
            }
        }
        Ok(())
    }

    pub fn finish(&mut self) -> Result<()> {
        self.finished = true;
        match &mut self.source {
            Source::Stream(decoder) => decoder.finish().map_err(|_| {
                KernelError::invalid("arrow.truncated", "the body ends in the middle of an Arrow message")
            }),
            Source::File(body) => {
                body.finish()?;
                self.batches.extend(body.next()?);
                Ok(())
            }
        }
    }

    pub fn ready(&self) -> bool {
        let is_full = self.batch_bytes >= self.limits.slice_bytes || self.finished;
        self.failure.is_some() || is_full && !self.batches.is_empty()
    }

    pub fn decode(&mut self, schema_json: &str) -> Result<Slice> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let schema = Schema::parse(schema_json)?;
        let arrow_schema = Arc::new(schema.to_arrow());
        let columns = StructColumns::new(&schema.fields);
        let mut slice = Slice { unknown: Value::Null, ..Slice::default() };
        for batch in &self.batches {
            slice.unknown = match_fields(batch.schema_ref().fields(), &columns)?;
            let places = source_columns(&columns, batch.schema_ref().fields());
            let (rows, arrays) = self.accept_rows(batch, &schema.fields, &places, &mut slice)?;
            slice.received += batch.num_rows() as u64;
            slice.accepted += rows as u64;
            if !arrays.is_empty() && rows > 0 {
                slice.batches.push(RecordBatch::try_new(Arc::clone(&arrow_schema), arrays)?);
            }
        }
        self.decoded_rows = Some(slice.received);
        Ok(slice)
    }

    /// The accepted rows of a batch: how many, and their columns in the order of `fields`.
    fn accept_rows(
        &self,
        batch: &RecordBatch,
        fields: &[Field],
        places: &[Option<usize>],
        slice: &mut Slice,
    ) -> Result<(usize, Vec<ArrayRef>)> {
        let sources = places.iter().map(|place| place.map(|place| batch.column(place)));
        let mut arrays = fields
            .iter()
            .zip(sources)
            .map(|(field, source)| pass(source, field, batch.num_rows()))
            .collect::<Result<Vec<_>>>()?;
        let left = (0..fields.len()).filter(|index| arrays[*index].is_none()).collect::<Vec<_>>();
        let mut columns = StructColumns::new(&left.iter().map(|index| fields[*index].clone()).collect::<Vec<_>>());
        let places = left.iter().map(|index| places[*index]).collect::<Vec<_>>();
        let source = StructArray::from(batch.clone());
        let mut accepted = Vec::new();
        for index in (0..batch.num_rows()).filter(|_| !left.is_empty()) {
            let rows = columns.len;
            match append_row(&mut columns, &source, &places, index) {
                Ok(()) => accepted.push(index as u32),
                Err(rejection) => {
                    columns.truncate(rows);
                    let raw = struct_json(&source, index).to_string();
                    slice.rejected.push(RejectedRow {
                        row: self.rows_before + slice.received + index as u64,
                        rejection,
                        raw: cut_raw(&raw, self.limits.raw_bytes_max),
                    });
                }
            }
        }
        let rows = if left.is_empty() { batch.num_rows() } else { accepted.len() };
        if rows < batch.num_rows() {
            let accepted = UInt32Array::from(accepted);
            for array in arrays.iter_mut().flatten() {
                *array = take(array.as_ref(), &accepted, None)?;
            }
        }
        for (index, array) in left.iter().zip(columns.finish()?) {
            arrays[*index] = Some(array);
        }
        Ok((rows, arrays.into_iter().flatten().collect()))
    }

    pub fn advance(&mut self) {
        let Some(rows) = self.decoded_rows.take() else { return };
        self.rows_before += rows;
        self.batches.clear();
        self.batch_bytes = 0;
        if let Source::File(body) = &mut self.source {
            match body.next() {
                Ok(batch) => self.batches.extend(batch),
                Err(error) => self.failure = Some(error),
            }
        }
    }
}

fn malformed(error: &ArrowError) -> KernelError {
    KernelError::invalid("arrow.malformed", format!("not a valid Arrow stream: {error}"))
}
