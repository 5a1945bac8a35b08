//! The quick way through a row: serde_json hands each value straight to its column. It takes only what
//! is certain; at anything else it gives up with an error, the caller takes the row back and leaves it to
//! `exact`, whose judgement is the one that counts.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::value::RawValue;

use crate::columns::{Column, StructColumns, Values};
use crate::key_index::KeyIndex;
use crate::number;
use crate::schema::Type;
use crate::temporal::{parse_date, parse_time, parse_timestamp};
use crate::text_values::parse_uuid;

/// Above this not every whole number is a double.
const EXACT_DOUBLE_MAX: u64 = 1 << 53;

/// Appends a row, or fails and leaves a part of it behind: truncate then. `has_unknown` is set when the
/// row holds a column the schema lacks and gives it a value that is not empty.
pub fn append_row(row: &str, columns: &mut StructColumns, has_unknown: &mut bool) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(row);
    RowSeed { columns, has_unknown }.deserialize(&mut deserializer)?;
    deserializer.end()
}

struct RowSeed<'a> {
    columns: &'a mut StructColumns,
    has_unknown: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        append_object(map, self.columns, self.has_unknown)
    }
}

fn append_object<'de, A: MapAccess<'de>>(
    mut map: A,
    columns: &mut StructColumns,
    has_unknown: &mut bool,
) -> Result<(), A::Error> {
    let mut previous = columns.keys.start();
    let mut set = 0;
    while let Some(found) = map.next_key_seed(KeySeed { keys: &mut columns.keys, previous })? {
        let Some(index) = found else {
            *has_unknown |= map.next_value_seed(HoldsLeaf)?;
            continue;
        };
        let column = &mut columns.columns[index];
        if column.len() != columns.len {
            return Err(A::Error::duplicate_field("key"));
        }
        map.next_value_seed(ValueSeed { column, has_unknown })?;
        previous = index;
        set += 1;
    }
    if set == columns.columns.len() {
        columns.len += 1;
        return Ok(());
    }
    columns.close_row().map_err(|_| A::Error::missing_field("required"))
}

struct KeySeed<'a> {
    keys: &'a mut KeyIndex,
    previous: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Option<usize>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Option<usize>;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.keys.find(self.previous, key))
    }
}

struct ValueSeed<'a> {
    column: &'a mut Column,
    has_unknown: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.column.values {
            // Their digits matter, not the double that comes of them.
            Values::Decimal(_) | Values::F32(_) => {
                let raw: &RawValue = serde::Deserialize::deserialize(deserializer)?;
                append_number_text(self.column, raw.get())
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

fn append_number_text<E: Error>(column: &mut Column, text: &str) -> Result<(), E> {
    if text == "null" {
        return append_null(column);
    }
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    match (&mut column.values, &column.ty) {
        (Values::Decimal(values), Type::Decimal { precision, scale }) if is_number => {
            values.push(number::parse_decimal(text, *precision, *scale).map_err(|_| uncertain::<E>())?);
        }
        (Values::F32(values), _) if is_number => {
            values.push(number::parse_float(text).map_err(|_| uncertain::<E>())?);
        }
        _ => return Err(uncertain()),
    }
    column.commit_value();
    Ok(())
}

fn append_null<E: Error>(column: &mut Column) -> Result<(), E> {
    if column.append_null() { Ok(()) } else { Err(uncertain()) }
}

#[cold]
fn uncertain<E: Error>() -> E {
    E::invalid_type(Unexpected::Other("value"), &"a certain value")
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        append_null(self.column)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        let Values::Boolean(values) = &mut self.column.values else { return Err(uncertain()) };
        values.append(value);
        self.column.commit_value();
        Ok(())
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        match (&mut self.column.values, &self.column.ty) {
            (Values::I64(values), Type::Long) => values.push(value),
            (Values::I32(values), Type::Int) => values.push(i32::try_from(value).map_err(|_| uncertain::<E>())?),
            (Values::F64(values), _) if value.unsigned_abs() <= EXACT_DOUBLE_MAX => values.push(value as f64),
            _ => return Err(uncertain()),
        }
        self.column.commit_value();
        Ok(())
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(value).map_err(|_| uncertain::<E>())?)
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let Values::F64(values) = &mut self.column.values else { return Err(uncertain()) };
        // A whole number too large for u64 arrives here as well, already rounded.
        if value.abs() >= EXACT_DOUBLE_MAX as f64 {
            return Err(uncertain());
        }
        values.push(value);
        self.column.commit_value();
        Ok(())
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let column = self.column;
        match (&mut column.values, &column.ty) {
            (Values::Bytes { .. }, Type::String) => {
                return if column.append_bytes(text.as_bytes()) { Ok(()) } else { Err(uncertain()) };
            }
            (Values::I64(values), Type::Timestamp { utc, nanos }) => {
                values.push(parse_timestamp(text, *utc, *nanos).map_err(|_| uncertain::<E>())?);
            }
            (Values::I64(values), Type::Time) => values.push(parse_time(text).ok_or_else(uncertain::<E>)?),
            (Values::I32(values), Type::Date) => values.push(parse_date(text).ok_or_else(uncertain::<E>)?),
            (Values::Fixed { data, .. }, Type::Uuid) => {
                data.extend_from_slice(&parse_uuid(text).ok_or_else(uncertain::<E>)?);
            }
            _ => return Err(uncertain()),
        }
        column.commit_value();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Values::List { offsets, element } = &mut self.column.values else { return Err(uncertain()) };
        while seq.next_element_seed(ValueSeed { column: element, has_unknown: self.has_unknown })?.is_some() {}
        offsets.push(i32::try_from(element.len()).map_err(|_| uncertain::<A::Error>())?);
        self.column.commit_value();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        match &mut self.column.values {
            Values::Struct(children) => append_object(map, children, self.has_unknown)?,
            Values::Map { offsets, key, value } => {
                let start = key.len();
                while map.next_key_seed(ValueSeed { column: key, has_unknown: self.has_unknown })?.is_some() {
                    map.next_value_seed(ValueSeed { column: value, has_unknown: self.has_unknown })?;
                }
                // With two or more keys one may be there twice, which only `exact` looks for.
                if key.len() - start > 1 {
                    return Err(uncertain());
                }
                offsets.push(i32::try_from(key.len()).map_err(|_| uncertain::<A::Error>())?);
            }
            _ => return Err(uncertain()),
        }
        self.column.commit_value();
        Ok(())
    }
}

/// Reads a value and says whether it holds anything but null, `{}` and `[]`.
struct HoldsLeaf;

impl<'de> DeserializeSeed<'de> for HoldsLeaf {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HoldsLeaf {
    type Value = bool;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }
    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(true)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(element) = seq.next_element_seed(HoldsLeaf)? {
            found |= element;
        }
        Ok(found)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while map.next_key::<IgnoredAny>()?.is_some() {
            found |= map.next_value_seed(HoldsLeaf)?;
        }
        Ok(found)
    }
}
