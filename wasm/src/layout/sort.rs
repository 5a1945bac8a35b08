//! Rows in the order that a table asks for. As many are sorted at once as the memory for them holds; a file that
//! takes more than that is in order only when its runs happen to follow each other, as those of time often do.

use arrow_array::RecordBatch;
use arrow_select::interleave::interleave_record_batch;
use serde_json::Value;

use crate::encode::slice_bytes;
use crate::encode_options::SortOptions;
use crate::error::{KernelError, Result};
use crate::layout::scalar::Scalar;
use crate::layout::source::Source;
use crate::schema::Schema;

pub struct Sorter {
    fields: Vec<SortField>,
    buffer_bytes_max: usize,
    batches: Vec<RecordBatch>,
    /// The key of every row, one after the other, and where each ends; with the row's batch and index.
    keys: Vec<u8>,
    rows: Vec<SortedRow>,
    buffered_bytes: usize,
    /// The last key of the run before; `None` before the first.
    last_key: Option<Vec<u8>>,
    is_sorted: bool,
}

struct SortField {
    source: Source,
    is_descending: bool,
    nulls_first: bool,
}

struct SortedRow {
    key_start: usize,
    key_end: usize,
    place: (usize, usize),
}

impl Sorter {
    /// Spec: "Sort Orders" of appendix C.
    pub fn new(schema: &Schema, options: &SortOptions) -> Result<Self> {
        let fields = options.order.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| KernelError::internal("a sort order without fields"))?;
        let parse = |field: &Value| {
            let text = |name: &str| field.get(name).and_then(Value::as_str).unwrap_or_default();
            let id = field.get("source-id").and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
            let id = id.ok_or_else(|| KernelError::internal("a sort field without source"))?;
            Ok(SortField {
                source: Source::new(schema, id, text("transform"))?,
                is_descending: text("direction") == "desc",
                nulls_first: text("null-order") == "nulls-first",
            })
        };
        Ok(Self {
            fields: fields.iter().map(parse).collect::<Result<Vec<_>>>()?,
            buffer_bytes_max: options.buffer_bytes_max,
            batches: Vec::new(),
            keys: Vec::new(),
            rows: Vec::new(),
            buffered_bytes: 0,
            last_key: None,
            is_sorted: true,
        })
    }

    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let before = self.keys.len();
        let columns = self.fields.iter().map(|field| field.source.read(&batch)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let key_start = self.keys.len();
            for (field, column) in self.fields.iter().zip(&columns) {
                field.push_key(column.get(row), &mut self.keys);
            }
            self.rows.push(SortedRow { key_start, key_end: self.keys.len(), place: (self.batches.len(), row) });
        }
        self.buffered_bytes +=
            slice_bytes(&batch) + self.keys.len() - before + batch.num_rows() * size_of::<SortedRow>();
        self.batches.push(batch);
        Ok(())
    }

    pub fn is_full(&self) -> bool {
        self.buffered_bytes >= self.buffer_bytes_max
    }

    pub fn buffered_bytes(&self) -> usize {
        self.buffered_bytes
    }

    /// Whether all rows given so far by `order` were in order.
    pub fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// The places of the rows that wait, in their order; rows that are equal stay as they came.
    pub fn order(&mut self) -> Vec<(usize, usize)> {
        let mut rows = std::mem::take(&mut self.rows);
        let key = |row: &SortedRow| &self.keys[row.key_start..row.key_end];
        rows.sort_by(|a, b| key(a).cmp(key(b)));
        if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            self.is_sorted &= self.last_key.as_deref().is_none_or(|before| before <= key(first));
            self.last_key = Some(key(last).to_vec());
        }
        rows.iter().map(|row| row.place).collect()
    }

    pub fn gather(&self, places: &[(usize, usize)]) -> Result<RecordBatch> {
        let batches = self.batches.iter().collect::<Vec<_>>();
        Ok(interleave_record_batch(&batches, places)?)
    }

    pub fn forget_rows(&mut self) {
        self.batches.clear();
        self.rows.clear();
        self.keys.clear();
        self.buffered_bytes = 0;
    }
}

impl SortField {
    /// Nulls lie where the order puts them, whatever the direction of the values.
    fn push_key(&self, value: Scalar, key: &mut Vec<u8>) {
        if value == Scalar::Null {
            key.push(if self.nulls_first { 0 } else { 2 });
            return;
        }
        key.push(1);
        let start = key.len();
        value.push_key(key);
        if self.is_descending {
            key[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}
