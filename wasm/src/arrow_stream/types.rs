//! Arrow types against Iceberg types: which columns of a stream fit the schema, and what type a new one has.

use std::collections::HashSet;

use arrow_schema::{DataType, Field as ArrowField, Fields, TimeUnit};
use serde_json::{Value, json};

use crate::columns::{Column, StructColumns, Values};
use crate::error::{KernelError, Result};
use crate::json::infer::{check_name, NEW_COLUMNS_MAX};
use crate::schema::Type;

/// Checks every column the schema has. The result lists the ones it lacks, as an `InferredStruct` or null.
pub fn match_fields(fields: &Fields, columns: &StructColumns) -> Result<Value> {
    let mut count = 0;
    let unknown = match_struct(fields, columns, "", &mut count)?;
    Ok(unknown.unwrap_or(Value::Null))
}

fn match_struct(fields: &Fields, columns: &StructColumns, parent: &str, count: &mut usize) -> Result<Option<Value>> {
    let mut unknown = Vec::new();
    let mut seen = HashSet::new();
    for field in fields {
        let path = join(parent, field.name());
        if !seen.insert(field.name().to_lowercase()) {
            let message = format!("two columns are named {path}, or differ only in case");
            return Err(KernelError::invalid("arrow.duplicate-column", message).with("column", path));
        }
        let inferred = match columns.keys.lookup(field.name()) {
            Some(index) => match_column(field.data_type(), &columns.columns[index], &path, count)?
                .map(|ty| (columns.columns[index].name.clone(), ty)),
            None => {
                check_name(field.name(), parent.is_empty()).map_err(|rejection| {
                    KernelError::invalid(rejection.code, rejection.message.clone()).with("column", path.clone())
                })?;
                new_type(field, &path, count)?.map(|ty| (field.name().clone(), ty))
            }
        };
        if let Some((name, ty)) = inferred {
            unknown.push(json!({ "name": name, "type": ty }));
        }
    }
    Ok((!unknown.is_empty()).then(|| json!({ "type": "struct", "fields": unknown })))
}

fn match_column(found: &DataType, column: &Column, path: &str, count: &mut usize) -> Result<Option<Value>> {
    if let DataType::Dictionary(_, values) = found {
        return match_column(values, column, path, count);
    }
    match (&column.values, found) {
        (_, DataType::Null) => Ok(None),
        (Values::Struct(children), DataType::Struct(fields)) => match_struct(fields, children, path, count),
        (Values::List { element, .. }, DataType::List(field))
        | (Values::List { element, .. }, DataType::LargeList(field))
        | (Values::List { element, .. }, DataType::FixedSizeList(field, _)) => {
            let inner = match_column(field.data_type(), element, &join(path, "element"), count)?;
            Ok(inner.map(|ty| json!({ "type": "list", "element": ty })))
        }
        (Values::Map { key, value, .. }, DataType::Map(entries, _)) => {
            let DataType::Struct(pair) = entries.data_type() else {
                return Err(mismatch(found, &column.ty, path));
            };
            let [key_field, value_field] = pair.as_ref() else {
                return Err(mismatch(found, &column.ty, path));
            };
            match_column(key_field.data_type(), key, &join(path, "key"), count)?;
            let inner = match_column(value_field.data_type(), value, &join(path, "value"), count)?;
            Ok(inner.map(|ty| json!({ "type": "map", "key": key.ty.name(), "value": ty })))
        }
        _ if fits(found, &column.ty) => Ok(None),
        _ => Err(mismatch(found, &column.ty, path)),
    }
}

fn fits(found: &DataType, ty: &Type) -> bool {
    match ty {
        Type::Boolean => *found == DataType::Boolean,
        Type::Int | Type::Long => found.is_integer(),
        Type::Float => matches!(found, DataType::Float16 | DataType::Float32),
        Type::Double => found.is_floating() || found.is_integer(),
        Type::Decimal { .. } => {
            let is_decimal = matches!(found, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..));
            is_decimal || found.is_integer()
        }
        Type::Date => matches!(found, DataType::Date32 | DataType::Date64),
        Type::Time => matches!(found, DataType::Time32(_) | DataType::Time64(_)),
        Type::Timestamp { utc, .. } => matches!(found, DataType::Timestamp(_, zone) if zone.is_some() == *utc),
        Type::String => is_text(found),
        Type::Uuid => is_text(found) || *found == DataType::FixedSizeBinary(16),
        Type::Fixed(length) => *found == DataType::FixedSizeBinary(*length),
        Type::Binary => is_binary(found) || matches!(found, DataType::FixedSizeBinary(_)),
        Type::Struct(_) | Type::List(_) | Type::Map { .. } => false,
    }
}

fn is_text(found: &DataType) -> bool {
    matches!(found, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_binary(found: &DataType) -> bool {
    matches!(found, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The narrowest Iceberg type that holds every value; `None` for a column that can hold only nulls.
fn new_type(field: &ArrowField, path: &str, count: &mut usize) -> Result<Option<Value>> {
    *count += 1;
    if *count > NEW_COLUMNS_MAX {
        let message = format!("more than {NEW_COLUMNS_MAX} new columns in one slice");
        return Err(KernelError::invalid("schema.too-many-columns", message).with("limit", NEW_COLUMNS_MAX));
    }
    if field.extension_type_name() == Some("arrow.uuid") {
        return Ok(Some(json!("uuid")));
    }
    type_of(field.data_type(), path, count)
}

fn type_of(found: &DataType, path: &str, count: &mut usize) -> Result<Option<Value>> {
    let name = match found {
        DataType::Null => return Ok(None),
        DataType::Boolean => "boolean".to_owned(),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => "int".to_owned(),
        DataType::Int64 | DataType::UInt32 => "long".to_owned(),
        DataType::UInt64 => "decimal(20,0)".to_owned(),
        DataType::Float16 | DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
            if (0..=*precision as i8).contains(scale) =>
        {
            format!("decimal({precision},{scale})")
        }
        DataType::Date32 | DataType::Date64 => "date".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "time".to_owned(),
        DataType::Timestamp(TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond, zone) => {
            // Nanoseconds need format version 3: microseconds are taken, finer values rejected by row.
            if zone.is_some() { "timestamptz".to_owned() } else { "timestamp".to_owned() }
        }
        DataType::FixedSizeBinary(length) if *length > 0 => format!("fixed[{length}]"),
        found if is_text(found) => "string".to_owned(),
        found if is_binary(found) => "binary".to_owned(),
        DataType::Dictionary(_, values) => return type_of(values, path, count),
        DataType::Struct(fields) => return match_struct(fields, &StructColumns::new(&[]), path, count),
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            let inner = new_type(element, &join(path, "element"), count)?;
            return Ok(inner.map(|ty| json!({ "type": "list", "element": ty })));
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else { return Err(unsupported(found, path)) };
            let [key, value] = pair.as_ref() else { return Err(unsupported(found, path)) };
            let key = new_type(key, &join(path, "key"), count)?;
            let value = new_type(value, &join(path, "value"), count)?;
            return Ok(key.zip(value).map(|(key, value)| json!({ "type": "map", "key": key, "value": value })));
        }
        _ => return Err(unsupported(found, path)),
    };
    Ok(Some(Value::String(name)))
}

fn join(parent: &str, name: &str) -> String {
    let name = if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() };
    if parent.is_empty() { name } else { format!("{parent}.{name}") }
}

fn mismatch(found: &DataType, ty: &Type, path: &str) -> KernelError {
    let message = format!("column {path} is {} and the stream has {found}", ty.name());
    KernelError::invalid("arrow.type-mismatch", message)
        .with("column", path)
        .with("expected", ty.name())
        .with("found", found.to_string())
}

fn unsupported(found: &DataType, path: &str) -> KernelError {
    KernelError::new("unsupported", "arrow.unsupported-type", format!("column {path}: {found} has no Iceberg type"))
        .with("column", path)
        .with("found", found.to_string())
}
