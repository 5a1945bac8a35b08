//! The careful way through a row that the fast one gave up on: every value is judged by its text. Finds
//! out whether the row is malformed JSON, has a wrong value, or is merely unusual.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::columns::{Column, StructColumns, Values};
use crate::number;
use crate::rejection::Rejection;
use crate::schema::Type;
use crate::temporal::{TimestampFault, parse_date, parse_time, parse_timestamp};
use crate::text_values::{parse_base64, parse_uuid};

/// Containers in containers that are followed; as many as serde_json's own limit lets pass.
pub const DEPTH_MAX: usize = 127;

/// The members of an object in order, keys unescaped, values as text.
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// What JSON value starts with this text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    String,
    List,
    Object,
}

impl Kind {
    /// `text` is a valid value without blanks around it.
    pub fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'n') | None => Self::Null,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'"') => Self::String,
            Some(b'[') => Self::List,
            Some(b'{') => Self::Object,
            Some(_) => Self::Number,
        }
    }
}

/// Valid JSON may escape half of a surrogate pair, which no UTF-8 text can hold.
pub fn unescape(text: &str) -> Result<Cow<'_, str>, Rejection> {
    match serde_json::from_str::<Key>(text) {
        Ok(key) => Ok(key.0),
        Err(_) => Err(Rejection::new("value.invalid-unicode", "a string escapes half of a surrogate pair")),
    }
}

/// @see [`Members`]; the only fault an object of valid JSON can have is a key as in [`unescape`].
pub fn members(text: &str) -> Result<Vec<(Cow<'_, str>, &RawValue)>, Rejection> {
    match serde_json::from_str::<Members>(text) {
        Ok(members) => Ok(members.0),
        Err(_) => Err(Rejection::new("value.invalid-unicode", "a key escapes half of a surrogate pair")),
    }
}

pub fn elements(text: &str) -> Result<Vec<&RawValue>, Rejection> {
    serde_json::from_str(text).map_err(|_| Rejection::mismatch("list", text))
}

/// Appends the row `text`, valid JSON; after a rejection a part of it is left behind: truncate then.
pub fn append_row(text: &str, columns: &mut StructColumns, has_unknown: &mut bool) -> Result<(), Rejection> {
    if Kind::of(text) != Kind::Object {
        let message = "a row must be an object";
        return Err(Rejection::new("json.not-an-object", message));
    }
    append_object(text, columns, has_unknown)
}

fn append_object(text: &str, columns: &mut StructColumns, has_unknown: &mut bool) -> Result<(), Rejection> {
    for (key, value) in members(text)? {
        let Some(index) = columns.keys.lookup(&key) else {
            *has_unknown |= Kind::of(value.get()) != Kind::Null;
            continue;
        };
        let column = &mut columns.columns[index];
        if column.len() != columns.len {
            let message = "a key is there twice, or differs from another only in case";
            return Err(Rejection::new("value.duplicate-key", message).within(&column.name));
        }
        append(value.get(), column, has_unknown).map_err(|rejection| rejection.within(&column.name))?;
    }
    columns.close_row().map_err(|index| Rejection::required().within(&columns.columns[index].name))
}

/// One JSON value; the rest as of [`append_row`].
pub fn append(text: &str, column: &mut Column, has_unknown: &mut bool) -> Result<(), Rejection> {
    let kind = Kind::of(text);
    if kind == Kind::Null {
        return if column.append_null() { Ok(()) } else { Err(Rejection::required()) };
    }
    match (&mut column.values, kind) {
        (Values::Boolean(values), Kind::Boolean) => values.append(text == "true"),
        (Values::F64(values), Kind::Number) => values.push(number::parse_double(text)?),
        (Values::F32(values), Kind::Number) => values.push(number::parse_float(text)?),
        (Values::Struct(children), Kind::Object) => append_object(text, children, has_unknown)?,
        (Values::List { offsets, element }, Kind::List) => {
            for value in elements(text)? {
                append(value.get(), element, has_unknown).map_err(|rejection| rejection.within("element"))?;
            }
            offsets.push(offset(element.len())?);
        }
        (Values::Map { offsets, key, value }, Kind::Object) => {
            append_entries(text, key, value, has_unknown)?;
            offsets.push(offset(key.len())?);
        }
        (Values::I64(values), Kind::Number) if column.ty == Type::Long => values.push(number::parse_long(text)?),
        (Values::I32(values), Kind::Number) if column.ty == Type::Int => values.push(number::parse_int(text)?),
        (Values::Decimal(_), Kind::Number) => return append_text(text, text, column),
        (_, Kind::String) => return append_text(&unescape(text)?, text, column),
        _ => return Err(Rejection::mismatch(&column.ty.name(), text)),
    }
    column.commit_value();
    Ok(())
}

fn append_entries(text: &str, key: &mut Column, value: &mut Column, has_unknown: &mut bool) -> Result<(), Rejection> {
    let entries = members(text)?;
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    for (name, item) in entries {
        if !seen.insert(name.clone()) {
            let message = "a key is there twice";
            return Err(Rejection::new("value.duplicate-key", message).within(&name));
        }
        append_text(&name, &name, key).map_err(|rejection| rejection.within("key"))?;
        append(item.get(), value, has_unknown).map_err(|rejection| rejection.within("value"))?;
    }
    Ok(())
}

/// For what is written as a string; `found` is its source, for a message.
pub fn append_text(text: &str, found: &str, column: &mut Column) -> Result<(), Rejection> {
    let mismatch = || Rejection::mismatch(&column.ty.name(), found);
    match (&mut column.values, &column.ty) {
        (Values::Bytes { .. }, Type::String) => {
            return if column.append_bytes(text.as_bytes()) { Ok(()) } else { Err(slice_full()) };
        }
        (Values::Bytes { .. }, _) => {
            let bytes = parse_base64(text).ok_or_else(|| Rejection::mismatch("binary as base64", found))?;
            return if column.append_bytes(&bytes) { Ok(()) } else { Err(slice_full()) };
        }
        (Values::Decimal(values), Type::Decimal { precision, scale }) => {
            if !number::is_json_number(text) {
                return Err(mismatch());
            }
            values.push(number::parse_decimal(text, *precision, *scale)?);
        }
        (Values::I32(values), Type::Date) => values.push(parse_date(text).ok_or_else(mismatch)?),
        (Values::I64(values), Type::Time) => values.push(parse_time(text).ok_or_else(mismatch)?),
        (Values::I64(values), Type::Timestamp { utc, nanos }) => {
            values.push(parse_timestamp(text, *utc, *nanos).map_err(|fault| timestamp_fault(&fault, &column.ty, found))?);
        }
        (Values::Fixed { data, .. }, Type::Uuid) => data.extend_from_slice(&parse_uuid(text).ok_or_else(mismatch)?),
        (Values::Fixed { width, data }, _) => {
            let bytes = parse_base64(text).ok_or_else(mismatch)?;
            if bytes.len() != *width {
                let message = format!("expected {width} bytes, found {}", bytes.len());
                return Err(Rejection::new("value.type-mismatch", message));
            }
            data.extend_from_slice(&bytes);
        }
        _ => return Err(mismatch()),
    }
    column.commit_value();
    Ok(())
}

fn timestamp_fault(fault: &TimestampFault, ty: &Type, found: &str) -> Rejection {
    match fault {
        TimestampFault::Malformed => Rejection::mismatch(&ty.name(), found),
        TimestampFault::OffsetGiven => Rejection::mismatch(&format!("{} without an offset", ty.name()), found),
        TimestampFault::OffsetMissing => Rejection::mismatch(&format!("{} with an offset", ty.name()), found),
        TimestampFault::OutOfRange => Rejection::out_of_range(&ty.name(), found),
    }
}

fn offset(len: usize) -> Result<i32, Rejection> {
    i32::try_from(len).map_err(|_| slice_full())
}

fn slice_full() -> Rejection {
    Rejection::new("value.out-of-range", "the column's values of one slice exceed 2 GiB")
}

/// How deep the containers of valid JSON nest at most.
pub fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}
