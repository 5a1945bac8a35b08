//! Which partition each row belongs to. Partitions are numbered in the order in which rows show them.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use serde_json::Value;

use crate::error::{KernelError, Result};
use crate::layout::scalar::Scalar;
use crate::layout::source::Source;
use crate::schema::Schema;

pub struct Partitioner {
    sources: Vec<Source>,
    numbers: HashMap<Box<[u8]>, u32, ahash::RandomState>,
    /// By number: the values in the spec's order, as [`Scalar::to_json`] gives them.
    pub values: Vec<Value>,
    partitions_max: usize,
}

impl Partitioner {
    /// `spec`: the JSON of a partition spec, `{"fields":[{"source-id":…,"transform":…}]}`.
    pub fn new(schema: &Schema, spec: &Value, partitions_max: usize) -> Result<Self> {
        let fields = spec.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| KernelError::internal("a partition spec without fields"))?;
        let source = |field: &Value| {
            let id = field.get("source-id").and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
            match (id, field.get("transform").and_then(Value::as_str)) {
                (Some(id), Some(transform)) => Source::new(schema, id, transform),
                _ => Err(KernelError::internal("a partition field without source or transform")),
            }
        };
        let sources = fields.iter().map(source).collect::<Result<Vec<_>>>()?;
        Ok(Self { sources, numbers: HashMap::default(), values: Vec::new(), partitions_max })
    }

    /// Calls `place` with each row's partition, in order.
    pub fn place_rows(&mut self, batch: &RecordBatch, mut place: impl FnMut(u32)) -> Result<()> {
        let columns = self.sources.iter().map(|source| source.read(batch)).collect::<Result<Vec<_>>>()?;
        let mut key = Vec::new();
        // Rows next to each other often belong together.
        let mut previous: Option<(Vec<u8>, u32)> = None;
        for row in 0..batch.num_rows() {
            key.clear();
            for column in &columns {
                push_key(column.get(row), &mut key);
            }
            if let Some((bytes, number)) = &previous
                && *bytes == key
            {
                place(*number);
                continue;
            }
            let number = match self.numbers.get(key.as_slice()) {
                Some(number) => *number,
                None => {
                    if self.values.len() == self.partitions_max {
                        let message = format!("the rows of one write fall into more than {} partitions", self.partitions_max);
                        return Err(KernelError::new("too-large", "partition.too-many", message)
                            .with("limit", self.partitions_max));
                    }
                    let number = self.values.len() as u32;
                    self.values.push(columns.iter().map(|column| canonical(column.get(row)).to_json()).collect());
                    self.numbers.insert(key.clone().into_boxed_slice(), number);
                    number
                }
            };
            place(number);
            let (mut bytes, _) = previous.take().unwrap_or_default();
            bytes.clone_from(&key);
            previous = Some((bytes, number));
        }
        Ok(())
    }
}

fn push_key(value: Scalar, key: &mut Vec<u8>) {
    key.push(u8::from(value != Scalar::Null));
    canonical(value).push_key(key);
}

/// Every NaN is one partition; the two zeros are two.
fn canonical(value: Scalar) -> Scalar {
    match value {
        Scalar::Float(value) if value.is_nan() => Scalar::Float(f32::NAN),
        Scalar::Double(value) if value.is_nan() => Scalar::Double(f64::NAN),
        other => other,
    }
}
