//! What decoding a part of a body gives, and its form for the host.

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use serde_json::{Value, json};

use crate::encode::slice_bytes;
use crate::error::Result;
use crate::rejection::{Rejection, cut};

#[derive(Clone, Copy)]
pub struct Limits {
    pub slice_bytes: usize,
    pub row_bytes_max: usize,
    pub raw_bytes_max: usize,
}

#[derive(Default)]
pub struct Slice {
    pub batches: Vec<RecordBatch>,
    pub received: u64,
    pub accepted: u64,
    pub rejected: Vec<RejectedRow>,
    /// An `InferredStruct` of the host, or null.
    pub unknown: Value,
}

pub struct RejectedRow {
    /// In the whole body, from 0.
    pub row: u64,
    pub rejection: Rejection,
    pub raw: String,
}

impl Slice {
    pub fn facts(&self) -> String {
        let rejected: Vec<Value> = self
            .rejected
            .iter()
            .map(|rejected| {
                json!({
                    "row": rejected.row,
                    "column": rejected.rejection.column(),
                    "code": rejected.rejection.code,
                    "message": rejected.rejection.message,
                    "raw": rejected.raw,
                })
            })
            .collect();
        json!({
            "rowsReceived": self.received,
            "rowsAccepted": self.accepted,
            "rejected": rejected,
            "unknown": self.unknown,
        })
        .to_string()
    }

    /// An Arrow IPC stream, empty when there are no rows.
    pub fn into_ipc(self) -> Result<Vec<u8>> {
        let Some(first) = self.batches.first() else { return Ok(Vec::new()) };
        let bytes = self.batches.iter().map(slice_bytes).sum::<usize>();
        let mut writer = StreamWriter::try_new(Vec::with_capacity(bytes), &first.schema())?;
        for batch in &self.batches {
            writer.write(batch)?;
        }
        Ok(writer.into_inner()?)
    }
}

pub fn cut_raw(row: &str, bytes_max: usize) -> String {
    cut(row, bytes_max).to_owned()
}
