//! One value of a column or of a transform, its bytes as a key, and its form for the host.

use std::fmt::Write as _;

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    Null,
    Boolean(bool),
    /// int, date, and what year, month, day, hour and bucket give
    Int(i32),
    /// long, time, timestamps
    Long(i64),
    /// Of a decimal, without its scale.
    Unscaled(i128),
    Float(f32),
    Double(f64),
    Text(&'a str),
    Uuid(&'a [u8]),
    /// fixed, binary
    Bytes(&'a [u8]),
}

impl Scalar<'_> {
    /// Appends bytes that order as the values do and that no other value's bytes begin with. Floats in IEEE 754
    /// total order, text and bytes in unsigned byte order. Spec: "Sorting". Nothing for null.
    pub fn push_key(&self, key: &mut Vec<u8>) {
        match *self {
            Self::Null => {}
            Self::Boolean(value) => key.push(value.into()),
            Self::Int(value) => key.extend((value as u32 ^ 1 << 31).to_be_bytes()),
            Self::Long(value) => key.extend((value as u64 ^ 1 << 63).to_be_bytes()),
            Self::Unscaled(value) => key.extend((value as u128 ^ 1 << 127).to_be_bytes()),
            // Negative ones have all bits turned over, others the sign alone.
            Self::Float(value) => {
                let bits = value.to_bits();
                key.extend((bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)).to_be_bytes());
            }
            Self::Double(value) => {
                let bits = value.to_bits();
                key.extend((bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)).to_be_bytes());
            }
            Self::Text(text) => push_escaped(text.as_bytes(), key),
            Self::Bytes(bytes) => push_escaped(bytes, key),
            Self::Uuid(bytes) => key.extend_from_slice(bytes),
        }
    }

    /// A tagged value; the host's types are those of `PartitionValue`.
    pub fn to_json(&self) -> Value {
        match *self {
            Self::Null => Value::Null,
            Self::Boolean(value) => json!({ "boolean": value }),
            Self::Int(value) => json!({ "number": value }),
            Self::Long(value) => json!({ "integer": value.to_string() }),
            Self::Unscaled(value) => json!({ "integer": value.to_string() }),
            // As bits: JSON has no NaN, no infinity and loses the sign of zero.
            Self::Float(value) => json!({ "float": value.to_bits() }),
            Self::Double(value) => json!({ "double": value.to_bits().to_string() }),
            Self::Text(text) => json!({ "text": text }),
            Self::Uuid(bytes) => json!({ "text": uuid_text(bytes) }),
            Self::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        }
    }
}

/// Zeros are followed by 255, the end is two zeros: a prefix comes before what it begins.
fn push_escaped(bytes: &[u8], key: &mut Vec<u8>) {
    for part in bytes.split_inclusive(|byte| *byte == 0) {
        key.extend_from_slice(part);
        if part.last() == Some(&0) {
            key.push(0xff);
        }
    }
    key.extend([0, 0]);
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|range| digits.get(range).unwrap_or_default().to_owned()).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scalar: Scalar) -> Vec<u8> {
        let mut key = Vec::new();
        scalar.push_key(&mut key);
        key
    }

    #[test]
    fn keys_order_as_their_values() {
        let doubles = [-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        assert!(doubles.map(|value| key(Scalar::Double(value))).is_sorted_by(|a, b| a < b));
        let floats = doubles.map(|value| if value == 1e-300 { 1e-30 } else { value as f32 });
        assert!(floats.map(|value| key(Scalar::Float(value))).is_sorted_by(|a, b| a < b));
        assert!([i64::MIN, -1, 0, 1, i64::MAX].map(|value| key(Scalar::Long(value))).is_sorted_by(|a, b| a < b));
        assert!([i32::MIN, -1, 0, i32::MAX].map(|value| key(Scalar::Int(value))).is_sorted_by(|a, b| a < b));
        assert!([i128::MIN, -1, 0, i128::MAX].map(|value| key(Scalar::Unscaled(value))).is_sorted_by(|a, b| a < b));
        let texts = ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "ab", "ż", "\u{ffff}", "😀"];
        assert!(texts.map(|text| key(Scalar::Text(text))).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn uuids_are_written_in_groups() {
        let bytes = (0u8..16).collect::<Vec<_>>();
        assert_eq!(uuid_text(&bytes), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
