//! Iceberg schemas: parsed from their JSON form, and turned into Arrow schemas that carry field ids.
//! Spec: "Schemas and Data Types", "Appendix C: JSON serialization".

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Fields, Schema as ArrowSchema, TimeUnit};
use serde_json::Value;

use crate::error::{KernelError, Result};

/// Metadata key under which Arrow fields carry Iceberg field ids.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Decimal { precision: u8, scale: i8 },
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Since 1970-01-01T00:00:00; `utc` for the types that end in `tz`.
    Timestamp { utc: bool, nanos: bool },
    String,
    Uuid,
    Fixed(i32),
    Binary,
    Struct(Vec<Field>),
    List(Box<Field>),
    Map { key: Box<Field>, value: Box<Field> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub id: i32,
    pub name: String,
    pub required: bool,
    pub ty: Type,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    pub fields: Vec<Field>,
    /// As it was given; written to the file's metadata.
    pub json: String,
}

impl Schema {
    pub fn parse(json: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(json)
            .map_err(|error| KernelError::internal(format!("schema JSON: {error}")))?;
        Ok(Self { fields: parse_fields(&value)?, json: json.to_owned() })
    }

    pub fn to_arrow(&self) -> ArrowSchema {
        ArrowSchema::new(self.fields.iter().map(to_arrow_field).collect::<Fields>())
    }
}

impl Type {
    /// Decimals, which may be written as text too, are not among them.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Long | Self::Float | Self::Double)
    }

    /// The type as the spec writes it, without field ids.
    pub fn name(&self) -> String {
        match self {
            Self::Boolean => "boolean".into(),
            Self::Int => "int".into(),
            Self::Long => "long".into(),
            Self::Float => "float".into(),
            Self::Double => "double".into(),
            Self::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            Self::Date => "date".into(),
            Self::Time => "time".into(),
            Self::Timestamp { utc, nanos } => {
                let zone = if *utc { "timestamptz" } else { "timestamp" };
                if *nanos { format!("{zone}_ns") } else { zone.into() }
            }
            Self::String => "string".into(),
            Self::Uuid => "uuid".into(),
            Self::Fixed(length) => format!("fixed[{length}]"),
            Self::Binary => "binary".into(),
            Self::Struct(_) => "struct".into(),
            Self::List(_) => "list".into(),
            Self::Map { .. } => "map".into(),
        }
    }
}

fn parse_fields(value: &Value) -> Result<Vec<Field>> {
    let fields = value.get("fields").and_then(Value::as_array);
    let fields = fields.ok_or_else(|| malformed("a struct without fields"))?;
    let mut parsed = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| malformed("a field without a name"))?;
        let required = field.get("required").and_then(Value::as_bool).unwrap_or(false);
        let ty = field.get("type").unwrap_or(&Value::Null);
        // A column of type unknown holds only nulls and is not stored (spec: "Parquet").
        if ty.as_str() != Some("unknown") {
            parsed.push(parse_field(field, "id", name, required, ty)?);
        }
    }
    Ok(parsed)
}

fn parse_field(holder: &Value, id: &str, name: &str, required: bool, ty: &Value) -> Result<Field> {
    let id = holder.get(id).and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
    let id = id.ok_or_else(|| malformed("a field without an id"))?;
    Ok(Field { id, name: name.to_owned(), required, ty: parse_type(ty)? })
}

fn parse_type(value: &Value) -> Result<Type> {
    if let Some(name) = value.as_str() {
        return parse_primitive(name);
    }
    match value.get("type").and_then(Value::as_str) {
        Some("struct") => Ok(Type::Struct(parse_fields(value)?)),
        Some("list") => {
            let required = value.get("element-required").and_then(Value::as_bool).unwrap_or(false);
            let element = value.get("element").unwrap_or(&Value::Null);
            Ok(Type::List(Box::new(parse_field(value, "element-id", "element", required, element)?)))
        }
        Some("map") => {
            let required = value.get("value-required").and_then(Value::as_bool).unwrap_or(false);
            let key = value.get("key").unwrap_or(&Value::Null);
            let item = value.get("value").unwrap_or(&Value::Null);
            Ok(Type::Map {
                key: Box::new(parse_field(value, "key-id", "key", true, key)?),
                value: Box::new(parse_field(value, "value-id", "value", required, item)?),
            })
        }
        _ => Err(malformed("a type that is neither a name nor a struct, list or map")),
    }
}

fn parse_primitive(name: &str) -> Result<Type> {
    Ok(match name {
        "boolean" => Type::Boolean,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "date" => Type::Date,
        "time" => Type::Time,
        "timestamp" => Type::Timestamp { utc: false, nanos: false },
        "timestamptz" => Type::Timestamp { utc: true, nanos: false },
        "timestamp_ns" => Type::Timestamp { utc: false, nanos: true },
        "timestamptz_ns" => Type::Timestamp { utc: true, nanos: true },
        "string" => Type::String,
        "uuid" => Type::Uuid,
        "binary" => Type::Binary,
        _ => return parse_parameterised(name).ok_or_else(|| unsupported(name)),
    })
}

/// `decimal(P,S)` and `fixed[L]`, blanks allowed as other writers put them.
fn parse_parameterised(name: &str) -> Option<Type> {
    if let Some(inner) = name.strip_prefix("fixed[").and_then(|rest| rest.strip_suffix(']')) {
        return inner.trim().parse().ok().filter(|length| *length > 0).map(Type::Fixed);
    }
    let inner = name.strip_prefix("decimal(")?.strip_suffix(')')?;
    let (precision, scale) = inner.split_once(',')?;
    let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    ((1..=38).contains(&precision) && (0..=precision as i8).contains(&scale))
        .then_some(Type::Decimal { precision, scale })
}

fn malformed(what: &str) -> KernelError {
    KernelError::internal(format!("schema JSON: {what}"))
}

fn unsupported(name: &str) -> KernelError {
    KernelError::new("unsupported", "schema.unsupported-type", format!("columns of type {name} cannot be written"))
        .with("type", name)
}

pub fn to_arrow_field(field: &Field) -> ArrowField {
    let metadata = HashMap::from([(FIELD_ID_KEY.to_owned(), field.id.to_string())]);
    ArrowField::new(&field.name, to_arrow_type(&field.ty), !field.required).with_metadata(metadata)
}

/// Zoned timestamps carry "+00:00": the name "UTC" would need a zone database to be read back.
pub fn to_arrow_type(ty: &Type) -> DataType {
    match ty {
        Type::Boolean => DataType::Boolean,
        Type::Int => DataType::Int32,
        Type::Long => DataType::Int64,
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        Type::Decimal { precision, scale } => DataType::Decimal128(*precision, *scale),
        Type::Date => DataType::Date32,
        Type::Time => DataType::Time64(TimeUnit::Microsecond),
        Type::Timestamp { utc, nanos } => {
            let unit = if *nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
            DataType::Timestamp(unit, utc.then(|| Arc::from("+00:00")))
        }
        Type::String => DataType::Utf8,
        Type::Uuid => DataType::FixedSizeBinary(16),
        Type::Fixed(length) => DataType::FixedSizeBinary(*length),
        Type::Binary => DataType::Binary,
        Type::Struct(fields) => DataType::Struct(fields.iter().map(to_arrow_field).collect()),
        Type::List(element) => DataType::List(Arc::new(to_arrow_field(element))),
        Type::Map { key, value } => {
            let entries = DataType::Struct(Fields::from(vec![to_arrow_field(key), to_arrow_field(value)]));
            DataType::Map(Arc::new(ArrowField::new("key_value", entries, false)), false)
        }
    }
}
