//! One value of an Arrow array, whatever its width, unit or encoding.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, TimeUnit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value as Json};

pub enum Value<'a> {
    Null,
    Boolean(bool),
    Integer(i128),
    Real(f64),
    Decimal { unscaled: i128, scale: i8 },
    Days(i64),
    /// Of a date that is counted in milliseconds and is not a whole day.
    PartDay,
    /// Nanoseconds since midnight.
    Time(i128),
    /// Nanoseconds since 1970.
    Timestamp { nanos: i128, utc: bool },
    Text(&'a str),
    Bytes(&'a [u8]),
    Struct(&'a StructArray),
    List(ArrayRef),
    /// Keys and values.
    Map(StructArray),
    /// A type that [`crate::arrow_stream::types`] refuses.
    Unsupported,
}

pub fn value(array: &dyn Array, index: usize) -> Value<'_> {
    if array.is_null(index) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Boolean(array.as_boolean().value(index)),
        DataType::Int8 => integer::<Int8Type>(array, index),
        DataType::Int16 => integer::<Int16Type>(array, index),
        DataType::Int32 => integer::<Int32Type>(array, index),
        DataType::Int64 => integer::<Int64Type>(array, index),
        DataType::UInt8 => integer::<UInt8Type>(array, index),
        DataType::UInt16 => integer::<UInt16Type>(array, index),
        DataType::UInt32 => integer::<UInt32Type>(array, index),
        DataType::UInt64 => integer::<UInt64Type>(array, index),
        DataType::Float16 => Value::Real(array.as_primitive::<Float16Type>().value(index).to_f64()),
        DataType::Float32 => Value::Real(f64::from(array.as_primitive::<Float32Type>().value(index))),
        DataType::Float64 => Value::Real(array.as_primitive::<Float64Type>().value(index)),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, index, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, index, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, index, *scale),
        DataType::Date32 => Value::Days(i64::from(array.as_primitive::<Date32Type>().value(index))),
        DataType::Date64 => days(array.as_primitive::<Date64Type>().value(index)),
        DataType::Time32(unit) | DataType::Time64(unit) => Value::Time(time(array, index, *unit) * unit_nanos(*unit)),
        DataType::Timestamp(unit, zone) => {
            Value::Timestamp { nanos: timestamp(array, index, *unit) * unit_nanos(*unit), utc: zone.is_some() }
        }
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(index)),
        DataType::LargeUtf8 => Value::Text(array.as_string::<i64>().value(index)),
        DataType::Utf8View => Value::Text(array.as_string_view().value(index)),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(index)),
        DataType::LargeBinary => Value::Bytes(array.as_binary::<i64>().value(index)),
        DataType::BinaryView => Value::Bytes(array.as_binary_view().value(index)),
        DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(index)),
        DataType::Struct(_) => Value::Struct(array.as_struct()),
        DataType::List(_) => Value::List(array.as_list::<i32>().value(index)),
        DataType::LargeList(_) => Value::List(array.as_list::<i64>().value(index)),
        DataType::FixedSizeList(..) => Value::List(array.as_fixed_size_list().value(index)),
        DataType::Map(..) => Value::Map(array.as_map().value(index)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            match value(dictionary.keys(), index) {
                Value::Integer(key) => match usize::try_from(key) {
                    Ok(key) if key < dictionary.values().len() => value(dictionary.values().as_ref(), key),
                    _ => Value::Unsupported,
                },
                other => other,
            }
        }
        _ => Value::Unsupported,
    }
}

fn integer<T>(array: &dyn Array, index: usize) -> Value<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128>,
{
    Value::Integer(array.as_primitive::<T>().value(index).into())
}

fn decimal<T>(array: &dyn Array, index: usize, scale: i8) -> Value<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128>,
{
    Value::Decimal { unscaled: array.as_primitive::<T>().value(index).into(), scale }
}

fn days(millis: i64) -> Value<'static> {
    const MILLIS_PER_DAY: i64 = 86_400_000;
    if millis.rem_euclid(MILLIS_PER_DAY) == 0 { Value::Days(millis / MILLIS_PER_DAY) } else { Value::PartDay }
}

fn time(array: &dyn Array, index: usize, unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => array.as_primitive::<Time32SecondType>().value(index).into(),
        TimeUnit::Millisecond => array.as_primitive::<Time32MillisecondType>().value(index).into(),
        TimeUnit::Microsecond => array.as_primitive::<Time64MicrosecondType>().value(index).into(),
        TimeUnit::Nanosecond => array.as_primitive::<Time64NanosecondType>().value(index).into(),
    }
}

fn timestamp(array: &dyn Array, index: usize, unit: TimeUnit) -> i128 {
    i128::from(match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(index),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(index),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(index),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(index),
    })
}

fn unit_nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}

/// For people who look at a rejected row: the value as JSON, times as numbers of nanoseconds.
pub fn to_json(array: &dyn Array, index: usize) -> Json {
    match value(array, index) {
        Value::Null | Value::Unsupported | Value::PartDay => Json::Null,
        Value::Boolean(value) => value.into(),
        Value::Integer(value) => integer_json(value),
        Value::Real(value) => value.into(),
        Value::Decimal { unscaled, scale } => Json::String(format!("{unscaled}e{}", -i32::from(scale))),
        Value::Days(value) => value.into(),
        Value::Time(nanos) | Value::Timestamp { nanos, .. } => integer_json(nanos),
        Value::Text(text) => text.into(),
        Value::Bytes(bytes) => BASE64_STANDARD.encode(bytes).into(),
        Value::Struct(children) => struct_json(children, index),
        Value::List(elements) => (0..elements.len()).map(|at| to_json(elements.as_ref(), at)).collect(),
        Value::Map(entries) => (0..entries.len()).map(|at| struct_json(&entries, at)).collect(),
    }
}

pub fn struct_json(array: &StructArray, index: usize) -> Json {
    let members = array.fields().iter().zip(array.columns());
    let members: Map<String, Json> =
        members.map(|(field, column)| (field.name().clone(), to_json(column.as_ref(), index))).collect();
    Json::Object(members)
}

fn integer_json(value: i128) -> Json {
    match i64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => Json::String(value.to_string()),
    }
}
