//! A JSON body, fed in chunks, into slices of accepted and rejected rows.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde_json::value::RawValue;

use crate::columns::StructColumns;
use crate::error::{KernelError, Result};
use crate::json::exact::{self, DEPTH_MAX};
use crate::json::fast;
use crate::json::frame::{Framer, Position};
use crate::json::infer::{InferredColumns, Refusal};
use crate::rejection::Rejection;
use crate::schema::Schema;
use crate::slice::{Limits, RejectedRow, Slice, cut_raw};

/// A slice also ends after so many rows, or the rows that fill so many values: short rows grow by far when
/// they fill wide columns, or when each comes back with the reason it was rejected for.
const SLICE_ROWS_MAX: usize = 32_768;
const SLICE_ROWS_MIN: usize = 1024;
const SLICE_VALUES_MAX: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub struct JsonDecoder {
    limits: Limits,
    framer: Framer,
    buffer: Vec<u8>,
    /// Where `buffer` begins.
    position: Position,
    rows_before: u64,
    /// A byte order mark has been skipped or cannot come any more.
    started: bool,
    finished: bool,
    plan: Option<Plan>,
    /// Bytes and rows of the last decoded slice, which `advance` drops.
    decoded: Option<(usize, u64)>,
}

/// The columns for a schema, kept from slice to slice.
struct Plan {
    schema_json: String,
    schema: Schema,
    arrow_schema: SchemaRef,
    columns: StructColumns,
}

impl JsonDecoder {
    pub fn new(framer: Framer, limits: Limits) -> Self {
        Self {
            limits,
            framer,
            buffer: Vec::new(),
            position: Position::default(),
            rows_before: 0,
            started: false,
            finished: false,
            plan: None,
            decoded: None,
        }
    }

    pub fn push(&mut self, chunk: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(chunk);
        self.scan()
    }

    pub fn finish(&mut self) -> Result<()> {
        self.finished = true;
        self.scan()?;
        let position = self.position;
        self.framer.finish(&self.buffer).map_err(|error| position.locate(&self.buffer, error))
    }

    fn scan(&mut self) -> Result<()> {
        if !self.started {
            if self.buffer.len() < BYTE_ORDER_MARK.len() && !self.finished {
                return Ok(());
            }
            self.started = true;
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
        }
        let position = self.position;
        let scanned = self.framer.scan(&self.buffer);
        scanned.map_err(|(error, at)| position.locate(&self.buffer[..at], error))?;
        if self.framer.open_bytes(&self.buffer) > self.limits.row_bytes_max {
            return Err(self.row_too_large(self.framer.complete_bytes()));
        }
        Ok(())
    }

    pub fn ready(&self) -> bool {
        let complete = self.framer.complete_bytes();
        complete >= self.limits.slice_bytes || (self.finished && complete > 0)
    }

    pub fn decode(&mut self, schema_json: &str) -> Result<Slice> {
        let mut plan = match self.plan.take() {
            Some(plan) if plan.schema_json == schema_json => plan,
            _ => Plan::new(schema_json)?,
        };
        // A failed decode may leave half a row behind; the next one starts clean.
        plan.columns.truncate(0);
        let slice = self.decode_with(&mut plan)?;
        self.plan = Some(plan);
        Ok(slice)
    }

    fn decode_with(&mut self, plan: &mut Plan) -> Result<Slice> {
        let mut end = self.framer.slice_end(&self.buffer, self.limits.slice_bytes);
        let text = std::str::from_utf8(&self.buffer[..end]).map_err(|error| {
            let fault = KernelError::invalid("json.invalid-utf8", "the body is not valid UTF-8");
            self.position.locate(&self.buffer[..error.valid_up_to()], fault)
        })?;
        let mut slice = Slice::default();
        let mut inferred = InferredColumns::default();
        let rows_max = plan.slice_rows_max();
        for range in self.framer.rows(&self.buffer, end) {
            if slice.received == rows_max {
                end = range.start;
                break;
            }
            if range.len() > self.limits.row_bytes_max {
                return Err(self.row_too_large(range.start));
            }
            let row = &text[range.clone()];
            match accept_row(row, &mut plan.columns, &mut inferred) {
                Ok(()) => {}
                Err(Fault::Row(rejection)) => slice.rejected.push(RejectedRow {
                    row: self.rows_before + slice.received,
                    rejection,
                    raw: cut_raw(row.trim_ascii(), self.limits.raw_bytes_max),
                }),
                Err(Fault::Body(error)) => return Err(error.with("row", self.rows_before + slice.received)),
                Err(Fault::Syntax(error)) => return Err(self.malformed(row, range.start, &error)),
                Err(Fault::TooDeep) => {
                    let message = format!("nested deeper than {DEPTH_MAX} levels");
                    let error = KernelError::invalid("json.too-deep", message);
                    return Err(self.position.locate(&self.buffer[..range.start], error));
                }
            }
            slice.received += 1;
        }
        slice.accepted = plan.columns.len as u64;
        slice.unknown = inferred.to_json();
        if !plan.schema.fields.is_empty() && slice.accepted > 0 {
            let arrays = plan.columns.finish()?;
            slice.batches.push(RecordBatch::try_new(Arc::clone(&plan.arrow_schema), arrays)?);
        }
        self.decoded = Some((end, slice.received));
        Ok(slice)
    }

    pub fn advance(&mut self) {
        let Some((end, rows)) = self.decoded.take() else { return };
        self.position.advance_over(&self.buffer[..end]);
        self.buffer.drain(..end);
        self.framer.drop_front(end);
        self.rows_before += rows;
    }

    fn row_too_large(&self, row_start: usize) -> KernelError {
        let message = format!("a row is longer than {} bytes", self.limits.row_bytes_max);
        let error = KernelError::new("too-large", "row.too-large", message).with("limit", self.limits.row_bytes_max);
        self.position.locate(&self.buffer[..row_start], error)
    }

    fn malformed(&self, row: &str, row_start: usize, error: &serde_json::Error) -> KernelError {
        let offset = error_offset(row, error);
        let is_last = row_start + row.len() >= self.buffer.len();
        let (code, at) = match error.classify() {
            serde_json::error::Category::Eof if self.finished && is_last => ("json.truncated", row.len()),
            serde_json::error::Category::Eof => ("json.malformed", row.len()),
            _ => ("json.malformed", offset),
        };
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        self.position.locate(&self.buffer[..row_start + at], KernelError::invalid(code, message))
    }
}

impl Plan {
    fn new(schema_json: &str) -> Result<Self> {
        let schema = Schema::parse(schema_json)?;
        Ok(Self {
            schema_json: schema_json.to_owned(),
            arrow_schema: Arc::new(schema.to_arrow()),
            columns: StructColumns::new(&schema.fields),
            schema,
        })
    }

    fn slice_rows_max(&self) -> u64 {
        let leaves = self.arrow_schema.flattened_fields().len().max(1);
        (SLICE_VALUES_MAX / leaves).clamp(SLICE_ROWS_MIN, SLICE_ROWS_MAX) as u64
    }
}

enum Fault {
    Row(Rejection),
    Body(KernelError),
    Syntax(serde_json::Error),
    TooDeep,
}

/// Appends one row to `columns`, or leaves them as they were.
fn accept_row(row: &str, columns: &mut StructColumns, inferred: &mut InferredColumns) -> std::result::Result<(), Fault> {
    let rows = columns.len;
    let mut has_unknown = false;
    if fast::append_row(row, columns, &mut has_unknown).is_err() {
        columns.truncate(rows);
        has_unknown = false;
        let text = serde_json::from_str::<&RawValue>(row).map_err(Fault::Syntax)?.get();
        if exact::depth(text) > DEPTH_MAX {
            return Err(Fault::TooDeep);
        }
        if let Err(rejection) = exact::append_row(text, columns, &mut has_unknown) {
            columns.truncate(rows);
            return Err(Fault::Row(rejection));
        }
    }
    if has_unknown {
        match inferred.observe(row, columns) {
            Ok(()) => {}
            Err(Refusal::Body(error)) => return Err(Fault::Body(error)),
            Err(Refusal::Row(rejection)) => {
                columns.truncate(rows);
                return Err(Fault::Row(rejection));
            }
        }
    }
    Ok(())
}

/// serde_json counts lines and columns in bytes, and stands behind the byte at fault.
pub fn error_offset(row: &str, error: &serde_json::Error) -> usize {
    let line_start = row.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    (line_start + error.column().saturating_sub(1)).min(row.len())
}
