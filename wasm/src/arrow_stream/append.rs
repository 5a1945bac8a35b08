//! Arrow values into columns: what is lossless is cast, what is not rejects its row.

use arrow_array::{Array, StructArray};
use arrow_schema::Fields;

use crate::arrow_stream::value::{Value, value};
use crate::columns::{Column, StructColumns, Values};
use crate::rejection::Rejection;
use crate::schema::Type;
use crate::text_values::parse_uuid;

const EXACT_DOUBLE_MAX: u128 = 1 << 53;
const NANOS_PER_MICRO: i128 = 1000;

/// Where each column of a struct is found in the source; `None` when the source lacks it.
pub fn source_columns(columns: &StructColumns, source: &Fields) -> Vec<Option<usize>> {
    let mut found = vec![None; columns.columns.len()];
    for (index, field) in source.iter().enumerate() {
        if let Some(column) = columns.keys.lookup(field.name()) {
            found[column] = Some(index);
        }
    }
    found
}

/// Appends the row, or leaves a part of it behind: truncate then.
pub fn append_row(
    columns: &mut StructColumns,
    source: &StructArray,
    places: &[Option<usize>],
    index: usize,
) -> Result<(), Rejection> {
    for (column, place) in columns.columns.iter_mut().zip(places) {
        if let Some(place) = place {
            append(column, source.column(*place).as_ref(), index)
                .map_err(|rejection| rejection.within(&column.name.clone()))?;
        }
    }
    columns.close_row().map_err(|index| Rejection::required().within(&columns.columns[index].name))
}

fn append(column: &mut Column, array: &dyn Array, index: usize) -> Result<(), Rejection> {
    let found = value(array, index);
    if matches!(found, Value::Null) {
        return if column.append_null() { Ok(()) } else { Err(Rejection::required()) };
    }
    let name = || column.ty.name();
    match (&mut column.values, found) {
        (Values::Boolean(values), Value::Boolean(value)) => values.append(value),
        (Values::I32(values), Value::Integer(value)) if column.ty == Type::Int => {
            values.push(i32::try_from(value).map_err(|_| Rejection::out_of_range(&name(), &value.to_string()))?);
        }
        (Values::I32(values), Value::Days(days)) if column.ty == Type::Date => {
            values.push(i32::try_from(days).map_err(|_| Rejection::out_of_range(&name(), &days.to_string()))?);
        }
        (Values::I32(_), Value::PartDay) => return Err(Rejection::inexact(&name(), "a date with a time of day")),
        (Values::I64(values), Value::Integer(value)) if column.ty == Type::Long => {
            values.push(i64::try_from(value).map_err(|_| Rejection::out_of_range(&name(), &value.to_string()))?);
        }
        (Values::I64(values), Value::Time(nanos)) if column.ty == Type::Time => {
            values.push(to_unit(nanos, false, &column.ty)?);
        }
        (Values::I64(values), Value::Timestamp { nanos: since, utc: source_utc }) => match column.ty {
            Type::Timestamp { utc, nanos } if utc == source_utc => values.push(to_unit(since, nanos, &column.ty)?),
            _ => return Err(unexpected(&column.ty)),
        },
        // Only sources no wider than the column pass the type check.
        (Values::F32(values), Value::Real(value)) => values.push(value as f32),
        (Values::F64(values), Value::Real(value)) => values.push(value),
        (Values::F64(values), Value::Integer(value)) => {
            if value.unsigned_abs() > EXACT_DOUBLE_MAX && value as f64 as i128 != value {
                return Err(Rejection::inexact(&name(), &value.to_string()));
            }
            values.push(value as f64);
        }
        (Values::Decimal(values), Value::Integer(value)) => values.push(to_decimal(value, 0, &column.ty)?),
        (Values::Decimal(values), Value::Decimal { unscaled, scale }) => {
            values.push(to_decimal(unscaled, scale, &column.ty)?);
        }
        (Values::Bytes { .. }, Value::Text(text)) => return append_bytes(column, text.as_bytes()),
        (Values::Bytes { .. }, Value::Bytes(bytes)) => return append_bytes(column, bytes),
        (Values::Fixed { width, data }, Value::Bytes(bytes)) if bytes.len() == *width => data.extend_from_slice(bytes),
        (Values::Fixed { data, .. }, Value::Text(text)) if column.ty == Type::Uuid => {
            data.extend_from_slice(&parse_uuid(text).ok_or_else(|| Rejection::mismatch("uuid", text))?);
        }
        (Values::Struct(children), Value::Struct(source)) => {
            let places = source_columns(children, source.fields());
            append_row(children, source, &places, index)?;
        }
        (Values::List { offsets, element }, Value::List(source)) => {
            for at in 0..source.len() {
                append(element, source.as_ref(), at).map_err(|rejection| rejection.within("element"))?;
            }
            offsets.push(offset(element.len())?);
        }
        (Values::Map { offsets, key, value }, Value::Map(entries)) => {
            for at in 0..entries.len() {
                append(key, entries.column(0).as_ref(), at).map_err(|rejection| rejection.within("key"))?;
                append(value, entries.column(1).as_ref(), at).map_err(|rejection| rejection.within("value"))?;
            }
            offsets.push(offset(key.len())?);
        }
        _ => return Err(unexpected(&column.ty)),
    }
    column.commit_value();
    Ok(())
}

fn append_bytes(column: &mut Column, bytes: &[u8]) -> Result<(), Rejection> {
    if column.append_bytes(bytes) { Ok(()) } else { Err(too_much()) }
}

fn offset(len: usize) -> Result<i32, Rejection> {
    i32::try_from(len).map_err(|_| too_much())
}

fn too_much() -> Rejection {
    Rejection::new("value.out-of-range", "the column's values of one slice exceed 2 GiB")
}

fn unexpected(ty: &Type) -> Rejection {
    Rejection::new("value.type-mismatch", format!("expected {}", ty.name()))
}

fn to_unit(nanos: i128, keeps_nanos: bool, ty: &Type) -> Result<i64, Rejection> {
    let found = || format!("{nanos} ns");
    if !keeps_nanos && nanos % NANOS_PER_MICRO != 0 {
        return Err(Rejection::inexact(&ty.name(), &found()));
    }
    let value = if keeps_nanos { nanos } else { nanos / NANOS_PER_MICRO };
    i64::try_from(value).map_err(|_| Rejection::out_of_range(&ty.name(), &found()))
}

fn to_decimal(unscaled: i128, scale: i8, ty: &Type) -> Result<i128, Rejection> {
    let Type::Decimal { precision, scale: target } = ty else { return Err(unexpected(ty)) };
    let found = || format!("{unscaled}e{}", -i32::from(scale));
    let shift = i32::from(*target) - i32::from(scale);
    let factor = 10i128.checked_pow(shift.unsigned_abs()).ok_or_else(|| Rejection::out_of_range(&ty.name(), &found()))?;
    let value = if shift >= 0 {
        unscaled.checked_mul(factor).ok_or_else(|| Rejection::out_of_range(&ty.name(), &found()))?
    } else if unscaled % factor == 0 {
        unscaled / factor
    } else {
        return Err(Rejection::inexact(&ty.name(), &found()));
    };
    if value.unsigned_abs() < 10u128.pow(u32::from(*precision)) {
        Ok(value)
    } else {
        Err(Rejection::out_of_range(&ty.name(), &found()))
    }
}
