//! Iceberg schemas as Parquet schemas: a field id on every node that has one, three-level lists, the logical
//! types that the spec's table names. Spec: "Parquet" (appendix A).

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type as ParquetType, TypePtr};

use crate::error::Result;
use crate::schema::{Field, Schema, Type};

pub fn to_parquet(schema: &Schema) -> Result<SchemaDescriptor> {
    let fields = schema.fields.iter().map(node).collect::<Result<Vec<_>>>()?;
    let root = ParquetType::group_type_builder("table").with_fields(fields).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn node(field: &Field) -> Result<TypePtr> {
    let repetition = if field.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let group = |fields, logical, converted| -> Result<TypePtr> {
        let group = ParquetType::group_type_builder(&field.name)
            .with_repetition(repetition)
            .with_id(Some(field.id))
            .with_logical_type(logical)
            .with_converted_type(converted)
            .with_fields(fields)
            .build()?;
        Ok(Arc::new(group))
    };
    let repeated = |name: &str, fields| -> Result<TypePtr> {
        let group = ParquetType::group_type_builder(name).with_repetition(Repetition::REPEATED).with_fields(fields).build()?;
        Ok(Arc::new(group))
    };
    match &field.ty {
        Type::Struct(children) => {
            let children = children.iter().map(node).collect::<Result<Vec<_>>>()?;
            group(children, None, ConvertedType::NONE)
        }
        Type::List(element) => {
            let list = repeated("list", vec![node(element)?])?;
            group(vec![list], Some(LogicalType::List), ConvertedType::LIST)
        }
        Type::Map { key, value } => {
            let entries = repeated("key_value", vec![node(key)?, node(value)?])?;
            group(vec![entries], Some(LogicalType::Map), ConvertedType::MAP)
        }
        ty => leaf(field, ty, repetition),
    }
}

fn leaf(field: &Field, ty: &Type, repetition: Repetition) -> Result<TypePtr> {
    let (physical, logical) = match ty {
        Type::Boolean => (Physical::BOOLEAN, None),
        Type::Int => (Physical::INT32, None),
        Type::Long => (Physical::INT64, None),
        Type::Float => (Physical::FLOAT, None),
        Type::Double => (Physical::DOUBLE, None),
        Type::Date => (Physical::INT32, Some(LogicalType::Date)),
        Type::Time => {
            let logical = LogicalType::time(false, TimeUnit::MICROS);
            (Physical::INT64, Some(logical))
        }
        Type::Timestamp { utc, nanos } => {
            let unit = if *nanos { TimeUnit::NANOS } else { TimeUnit::MICROS };
            (Physical::INT64, Some(LogicalType::timestamp(*utc, unit)))
        }
        Type::String => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Type::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
        Type::Fixed(_) => (Physical::FIXED_LEN_BYTE_ARRAY, None),
        Type::Decimal { precision, scale } => {
            let logical = LogicalType::decimal(i32::from(*scale), i32::from(*precision));
            let physical = match precision {
                0..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => Physical::FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(logical))
        }
        Type::Binary | Type::Struct(_) | Type::List(_) | Type::Map { .. } => (Physical::BYTE_ARRAY, None),
    };
    let builder = ParquetType::primitive_type_builder(&field.name, physical)
        .with_repetition(repetition)
        .with_id(Some(field.id))
        .with_logical_type(logical);
    let builder = match ty {
        Type::Uuid => builder.with_length(16),
        Type::Fixed(length) => builder.with_length(*length),
        Type::Decimal { precision, scale } => {
            let sized = builder.with_precision(i32::from(*precision)).with_scale(i32::from(*scale));
            if *precision > 18 { sized.with_length(decimal_bytes(*precision)) } else { sized }
        }
        _ => builder,
    };
    Ok(Arc::new(builder.build()?))
}

/// The fewest bytes whose two's complement holds every value of the precision.
fn decimal_bytes(precision: u8) -> i32 {
    let bits = (f64::from(precision) * 10f64.log2()).ceil() as i32 + 1;
    (bits + 7) / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_decimals_take_the_fewest_bytes() {
        assert_eq!([19, 20, 28, 29, 38].map(decimal_bytes), [9, 9, 12, 13, 16]);
    }
}
