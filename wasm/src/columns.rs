//! Column builders that a row can be taken back from: every value of a row is appended straight to
//! its column, and [`Column::truncate`] undoes a row that turns out to be bad.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, ListArray, MapArray,
    PrimitiveArray, StringArray, StructArray,
};
use arrow_buffer::{
    BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{DataType, Field as ArrowField};

use crate::error::{KernelError, Result};
use crate::key_index::KeyIndex;
use crate::schema::{Field, Type, to_arrow_field, to_arrow_type};

pub struct Column {
    pub name: String,
    pub required: bool,
    pub ty: Type,
    nulls: NullBufferBuilder,
    pub values: Values,
}

pub enum Values {
    Boolean(BooleanBufferBuilder),
    /// int, date
    I32(Vec<i32>),
    /// long, time, timestamps
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Decimal(Vec<i128>),
    /// string, binary; `offsets` starts with a 0
    Bytes { offsets: Vec<i32>, data: Vec<u8> },
    /// uuid, fixed
    Fixed { width: usize, data: Vec<u8> },
    Struct(StructColumns),
    List { offsets: Vec<i32>, element: Box<Column> },
    Map { offsets: Vec<i32>, key: Box<Column>, value: Box<Column> },
}

/// The columns of a struct, or of a whole row.
pub struct StructColumns {
    pub keys: KeyIndex,
    pub columns: Vec<Column>,
    /// Finished rows; a child is longer by one while its value of the open row is set.
    pub len: usize,
}

impl StructColumns {
    pub fn new(fields: &[Field]) -> Self {
        Self {
            keys: KeyIndex::new(fields.iter().map(|field| field.name.as_str())),
            columns: fields.iter().map(Column::new).collect(),
            len: 0,
        }
    }

    /// Drops the open row and all rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        for column in &mut self.columns {
            column.truncate(len);
        }
        self.len = len;
    }

    /// Nulls for the columns the open row did not set. `Err` is the first required one of them.
    pub fn close_row(&mut self) -> std::result::Result<(), usize> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            if column.len() == self.len && !column.append_null() {
                return Err(index);
            }
        }
        self.len += 1;
        Ok(())
    }

    fn append_default(&mut self) {
        for column in &mut self.columns {
            column.append_placeholder();
        }
        self.len += 1;
    }

    pub fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        self.len = 0;
        self.columns.iter_mut().map(Column::finish).collect()
    }
}

impl Column {
    pub fn new(field: &Field) -> Self {
        let values = match &field.ty {
            Type::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            Type::Int | Type::Date => Values::I32(Vec::new()),
            Type::Long | Type::Time | Type::Timestamp { .. } => Values::I64(Vec::new()),
            Type::Float => Values::F32(Vec::new()),
            Type::Double => Values::F64(Vec::new()),
            Type::Decimal { .. } => Values::Decimal(Vec::new()),
            Type::String | Type::Binary => Values::Bytes { offsets: vec![0], data: Vec::new() },
            Type::Uuid => Values::Fixed { width: 16, data: Vec::new() },
            Type::Fixed(length) => Values::Fixed { width: *length as usize, data: Vec::new() },
            Type::Struct(fields) => Values::Struct(StructColumns::new(fields)),
            Type::List(element) => {
                Values::List { offsets: vec![0], element: Box::new(Self::new(element)) }
            }
            Type::Map { key, value } => Values::Map {
                offsets: vec![0],
                key: Box::new(Self::new(key)),
                value: Box::new(Self::new(value)),
            },
        };
        Self {
            name: field.name.clone(),
            required: field.required,
            ty: field.ty.clone(),
            nulls: NullBufferBuilder::new(0),
            values,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Marks the value that was just pushed to `values` as present.
    #[inline]
    pub fn commit_value(&mut self) {
        self.nulls.append_non_null();
    }

    #[inline]
    pub fn append_bytes(&mut self, bytes: &[u8]) -> bool {
        let Values::Bytes { offsets, data } = &mut self.values else { return false };
        let Ok(end) = i32::try_from(data.len() + bytes.len()) else { return false };
        data.extend_from_slice(bytes);
        offsets.push(end);
        self.nulls.append_non_null();
        true
    }

    /// False when the column is required.
    #[inline]
    pub fn append_null(&mut self) -> bool {
        if self.required {
            return false;
        }
        self.append_placeholder();
        true
    }

    /// A null slot; under a null parent also for a required column, where nobody looks.
    fn append_placeholder(&mut self) {
        match &mut self.values {
            Values::Boolean(values) => values.append(false),
            Values::I32(values) => values.push(0),
            Values::I64(values) => values.push(0),
            Values::F32(values) => values.push(0.0),
            Values::F64(values) => values.push(0.0),
            Values::Decimal(values) => values.push(0),
            Values::Bytes { offsets, data } => offsets.push(data.len() as i32),
            Values::Fixed { width, data } => data.resize(data.len() + *width, 0),
            Values::Struct(children) => children.append_default(),
            Values::List { offsets, element } => offsets.push(element.len() as i32),
            Values::Map { offsets, key, .. } => offsets.push(key.len() as i32),
        }
        if self.required {
            self.nulls.append_non_null();
        } else {
            self.nulls.append_null();
        }
    }

    pub fn truncate(&mut self, len: usize) {
        match &mut self.values {
            Values::Boolean(values) => values.truncate(len),
            Values::I32(values) => values.truncate(len),
            Values::I64(values) => values.truncate(len),
            Values::F32(values) => values.truncate(len),
            Values::F64(values) => values.truncate(len),
            Values::Decimal(values) => values.truncate(len),
            Values::Bytes { offsets, data } => {
                offsets.truncate(len + 1);
                data.truncate(last_offset(offsets));
            }
            Values::Fixed { width, data } => data.truncate(len * *width),
            Values::Struct(children) => children.truncate(len),
            Values::List { offsets, element } => {
                offsets.truncate(len + 1);
                element.truncate(last_offset(offsets));
            }
            Values::Map { offsets, key, value } => {
                offsets.truncate(len + 1);
                key.truncate(last_offset(offsets));
                value.truncate(last_offset(offsets));
            }
        }
        self.nulls.truncate(len);
    }

    /// Moves everything out; the column is empty afterwards and keeps its capacity in mind.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        let len = self.len();
        let nulls = self.nulls.finish();
        let array: ArrayRef = match &mut self.values {
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::I32(values) => match self.ty {
                Type::Date => primitive::<Date32Type>(values, nulls),
                _ => primitive::<Int32Type>(values, nulls),
            },
            Values::I64(values) => match &self.ty {
                Type::Time => primitive::<Time64MicrosecondType>(values, nulls),
                Type::Timestamp { utc, nanos } => timestamps(values, nulls, *utc, *nanos),
                _ => primitive::<Int64Type>(values, nulls),
            },
            Values::F32(values) => primitive::<Float32Type>(values, nulls),
            Values::F64(values) => primitive::<Float64Type>(values, nulls),
            Values::Decimal(values) => {
                let array = Decimal128Array::new(take(values).into(), nulls);
                Arc::new(array.with_data_type(to_arrow_type(&self.ty)))
            }
            Values::Bytes { offsets, data } => {
                let offsets = take_offsets(offsets);
                let data = Buffer::from_vec(take(data));
                match self.ty {
                    Type::String => Arc::new(StringArray::try_new(offsets, data, nulls)?),
                    _ => Arc::new(BinaryArray::try_new(offsets, data, nulls)?),
                }
            }
            Values::Fixed { width, data } => {
                let data = Buffer::from_vec(take(data));
                Arc::new(FixedSizeBinaryArray::try_new(*width as i32, data, nulls)?)
            }
            Values::Struct(children) => {
                let DataType::Struct(fields) = to_arrow_type(&self.ty) else {
                    return Err(KernelError::internal("a struct column of another type"));
                };
                let arrays = children.finish()?;
                Arc::new(StructArray::try_new_with_length(fields, arrays, nulls, len)?)
            }
            Values::List { offsets, element } => {
                let Type::List(field) = &self.ty else {
                    return Err(KernelError::internal("a list column of another type"));
                };
                let offsets = take_offsets(offsets);
                Arc::new(ListArray::try_new(Arc::new(to_arrow_field(field)), offsets, element.finish()?, nulls)?)
            }
            Values::Map { offsets, key, value } => {
                let DataType::Map(entries, ordered) = to_arrow_type(&self.ty) else {
                    return Err(KernelError::internal("a map column of another type"));
                };
                let entries = Arc::<ArrowField>::clone(&entries);
                let DataType::Struct(fields) = entries.data_type().clone() else {
                    return Err(KernelError::internal("map entries of another type"));
                };
                let pairs = StructArray::try_new(fields, vec![key.finish()?, value.finish()?], None)?;
                Arc::new(MapArray::try_new(entries, take_offsets(offsets), pairs, nulls, ordered)?)
            }
        };
        Ok(array)
    }
}

fn last_offset(offsets: &[i32]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Leaves room for as much again and an eighth: slices of one body are alike, and growing copies.
fn take<T>(values: &mut Vec<T>) -> Vec<T> {
    let capacity = values.len() + values.len() / 8;
    std::mem::replace(values, Vec::with_capacity(capacity))
}

fn take_offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    let taken = take(offsets);
    offsets.push(0);
    OffsetBuffer::new(ScalarBuffer::from(taken))
}

fn primitive<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(take(values).into(), nulls))
}

fn timestamps(values: &mut Vec<i64>, nulls: Option<NullBuffer>, utc: bool, nanos: bool) -> ArrayRef {
    let zone = utc.then_some("+00:00");
    if nanos {
        let array = PrimitiveArray::<TimestampNanosecondType>::new(take(values).into(), nulls);
        Arc::new(array.with_timezone_opt(zone))
    } else {
        let array = PrimitiveArray::<TimestampMicrosecondType>::new(take(values).into(), nulls);
        Arc::new(array.with_timezone_opt(zone))
    }
}
