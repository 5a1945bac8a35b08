//! The column that a transform reads, found by its field id in a schema and read row by row in a batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;

use crate::error::{KernelError, Result};
use crate::layout::scalar::Scalar;
use crate::layout::transform::Transform;
use crate::schema::{Field, Schema, Type};

/// A transform and the column it is applied to.
pub struct Source {
    transform: Transform,
    /// Indices of the fields from the row down to the column; `None` for a column that was dropped.
    path: Option<Vec<usize>>,
    ty: Type,
}

impl Source {
    /// `void` outlives its column; every other transform needs one that it applies to.
    pub fn new(schema: &Schema, source_id: i32, transform_text: &str) -> Result<Self> {
        let transform = Transform::parse(transform_text)?;
        let mut path = Vec::new();
        match find(&schema.fields, source_id, &mut path) {
            Some(ty) if transform.applies_to(ty) => Ok(Self { transform, path: Some(path), ty: ty.clone() }),
            None if transform == Transform::Void => Ok(Self { transform, path: None, ty: Type::Int }),
            Some(ty) => {
                let message = format!("the transform {transform_text} does not apply to {}", ty.name());
                Err(KernelError::invalid("partition-spec.source-type", message))
            }
            None => Err(KernelError::internal(format!("the transform {transform_text} has no column {source_id}"))),
        }
    }

    pub fn read<'a>(&'a self, batch: &'a RecordBatch) -> Result<TransformedColumn<'a>> {
        let (mut array, mut nulls): (Option<&'a ArrayRef>, Option<NullBuffer>) = (None, None);
        for index in self.path.iter().flatten() {
            let column = match array {
                None => batch.column(*index),
                Some(parent) => parent.as_struct().column(*index),
            };
            nulls = NullBuffer::union(nulls.as_ref(), column.nulls());
            array = Some(column);
        }
        let values = array.map(|array| Values::of(&self.ty, array)).transpose()?;
        Ok(TransformedColumn { source: self, nulls, values })
    }
}

/// Columns in lists and maps have no value a row, and are not found.
fn find<'a>(fields: &'a [Field], id: i32, path: &mut Vec<usize>) -> Option<&'a Type> {
    for (index, field) in fields.iter().enumerate() {
        path.push(index);
        match &field.ty {
            ty if field.id == id => return Some(ty),
            Type::Struct(children) => {
                if let Some(ty) = find(children, id, path) {
                    return Some(ty);
                }
            }
            _ => {}
        }
        path.pop();
    }
    None
}

/// What a transform gives for each row of a batch.
pub struct TransformedColumn<'a> {
    source: &'a Source,
    nulls: Option<NullBuffer>,
    values: Option<Values<'a>>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int(&'a [i32]),
    Long(&'a [i64]),
    Unscaled(&'a [i128]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    Fixed(&'a FixedSizeBinaryArray),
    Uuid(&'a FixedSizeBinaryArray),
}

impl<'a> Values<'a> {
    fn of(ty: &Type, array: &'a ArrayRef) -> Result<Self> {
        Ok(match ty {
            Type::Boolean => Self::Boolean(array.as_boolean()),
            Type::Int => Self::Int(array.as_primitive::<Int32Type>().values()),
            Type::Date => Self::Int(array.as_primitive::<Date32Type>().values()),
            Type::Long => Self::Long(array.as_primitive::<Int64Type>().values()),
            Type::Time => Self::Long(array.as_primitive::<Time64MicrosecondType>().values()),
            Type::Timestamp { nanos: false, .. } => Self::Long(array.as_primitive::<TimestampMicrosecondType>().values()),
            Type::Timestamp { nanos: true, .. } => Self::Long(array.as_primitive::<TimestampNanosecondType>().values()),
            Type::Decimal { .. } => Self::Unscaled(array.as_primitive::<Decimal128Type>().values()),
            Type::Float => Self::Float(array.as_primitive::<Float32Type>().values()),
            Type::Double => Self::Double(array.as_primitive::<Float64Type>().values()),
            Type::String => Self::Text(array.as_string()),
            Type::Binary => Self::Binary(array.as_binary()),
            Type::Fixed(_) => Self::Fixed(array.as_fixed_size_binary()),
            Type::Uuid => Self::Uuid(array.as_fixed_size_binary()),
            Type::Struct(_) | Type::List(_) | Type::Map { .. } => {
                return Err(KernelError::internal("a nested column under a transform"));
            }
        })
    }

    #[inline]
    fn get(&self, row: usize) -> Scalar<'_> {
        match self {
            Self::Boolean(array) => Scalar::Boolean(array.value(row)),
            Self::Int(values) => Scalar::Int(values[row]),
            Self::Long(values) => Scalar::Long(values[row]),
            Self::Unscaled(values) => Scalar::Unscaled(values[row]),
            Self::Float(values) => Scalar::Float(values[row]),
            Self::Double(values) => Scalar::Double(values[row]),
            Self::Text(array) => Scalar::Text(array.value(row)),
            Self::Binary(array) => Scalar::Bytes(array.value(row)),
            Self::Fixed(array) => Scalar::Bytes(array.value(row)),
            Self::Uuid(array) => Scalar::Uuid(array.value(row)),
        }
    }
}

impl TransformedColumn<'_> {
    #[inline]
    pub fn get(&self, row: usize) -> Scalar<'_> {
        let Some(values) = &self.values else { return Scalar::Null };
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Scalar::Null;
        }
        self.source.transform.apply(&self.source.ty, values.get(row))
    }
}
