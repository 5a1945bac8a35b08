//! Partition transforms on single values. `src/iceberg/spec/apply-transform.ts` computes the same for the host.
//! Spec: "Partition Transforms", "Appendix B: 32-bit Hash Requirements".

use crate::bounds;
use crate::error::{KernelError, Result};
use crate::layout::scalar::Scalar;
use crate::schema::Type;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    Identity,
    Bucket(u32),
    Truncate(u32),
    Year,
    Month,
    Day,
    Hour,
    Void,
}

const MICROS_PER_HOUR: i64 = 3_600_000_000;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;
const NANOS_PER_MICRO: i64 = 1000;
const EPOCH_YEAR: i32 = 1970;

impl Transform {
    pub fn parse(text: &str) -> Result<Self> {
        let parameter = |name: &str| {
            let inner = text.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            inner.parse::<u32>().ok().filter(|value| (1..=i32::MAX as u32).contains(value))
        };
        Ok(match text {
            "identity" => Self::Identity,
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "void" => Self::Void,
            _ => match (parameter("bucket"), parameter("truncate")) {
                (Some(count), _) => Self::Bucket(count),
                (_, Some(width)) => Self::Truncate(width),
                _ => {
                    let message = format!("the transform {text} is not supported");
                    return Err(KernelError::new("unsupported", "partition-spec.transform", message));
                }
            },
        })
    }

    pub fn applies_to(self, ty: &Type) -> bool {
        let is_primitive = !matches!(ty, Type::Struct(_) | Type::List(_) | Type::Map { .. });
        match self {
            Self::Identity | Self::Void => is_primitive,
            Self::Bucket(_) => is_primitive && !matches!(ty, Type::Boolean | Type::Float | Type::Double),
            Self::Truncate(_) => {
                matches!(ty, Type::Int | Type::Long | Type::Decimal { .. } | Type::String | Type::Binary)
            }
            Self::Year | Self::Month | Self::Day => matches!(ty, Type::Date | Type::Timestamp { .. }),
            Self::Hour => matches!(ty, Type::Timestamp { .. }),
        }
    }

    /// `value` is one of a column of type `ty`, to which the transform applies.
    #[inline]
    pub fn apply<'a>(self, ty: &Type, value: Scalar<'a>) -> Scalar<'a> {
        if value == Scalar::Null {
            return Scalar::Null;
        }
        match self {
            Self::Identity => value,
            Self::Void => Scalar::Null,
            Self::Bucket(count) => match bucket_hash(ty, value) {
                Some(hash) => Scalar::Int(((hash & 0x7fff_ffff) % count) as i32),
                None => Scalar::Null,
            },
            Self::Truncate(width) => truncate(value, width),
            Self::Year => days(ty, value).map_or(Scalar::Null, |days| Scalar::Int(civil(days).0 - EPOCH_YEAR)),
            Self::Month => days(ty, value).map_or(Scalar::Null, |days| {
                let (year, month) = civil(days);
                Scalar::Int((year - EPOCH_YEAR) * 12 + month - 1)
            }),
            Self::Day => days(ty, value).map_or(Scalar::Null, Scalar::Int),
            Self::Hour => {
                micros(ty, value).map_or(Scalar::Null, |micros| Scalar::Int(micros.div_euclid(MICROS_PER_HOUR) as i32))
            }
        }
    }
}

fn micros(ty: &Type, value: Scalar) -> Option<i64> {
    match (ty, value) {
        (Type::Timestamp { nanos: true, .. }, Scalar::Long(value)) => Some(value.div_euclid(NANOS_PER_MICRO)),
        (_, Scalar::Long(value)) => Some(value),
        _ => None,
    }
}

fn days(ty: &Type, value: Scalar) -> Option<i32> {
    match value {
        Scalar::Int(days) => Some(days),
        _ => Some(micros(ty, value)?.div_euclid(MICROS_PER_DAY) as i32),
    }
}

/// Below the lowest int or long the Java library wraps around, and so must we.
fn truncate(value: Scalar, width: u32) -> Scalar {
    match value {
        Scalar::Int(value) => {
            let floor = i64::from(value) - i64::from(value).rem_euclid(width.into());
            Scalar::Int(floor as i32)
        }
        Scalar::Long(value) => Scalar::Long(value.wrapping_sub(value.rem_euclid(width.into()))),
        Scalar::Unscaled(value) => Scalar::Unscaled(value.wrapping_sub(value.rem_euclid(width.into()))),
        Scalar::Text(text) => match text.char_indices().nth(width as usize) {
            Some((end, _)) => Scalar::Text(&text[..end]),
            None => value,
        },
        Scalar::Bytes(bytes) => Scalar::Bytes(&bytes[..bytes.len().min(width as usize)]),
        other => other,
    }
}

/// The 32-bit hash whose remainder is the bucket; `None` for a value that has none.
fn bucket_hash(ty: &Type, value: Scalar) -> Option<u32> {
    Some(match value {
        // As a long, so that the bucket stays the same when the column is widened.
        Scalar::Int(value) => murmur3(&i64::from(value).to_le_bytes()),
        Scalar::Long(_) => murmur3(&micros(ty, value)?.to_le_bytes()),
        Scalar::Unscaled(value) => murmur3(&bounds::decimal(value)),
        Scalar::Text(text) => murmur3(text.as_bytes()),
        Scalar::Bytes(bytes) | Scalar::Uuid(bytes) => murmur3(bytes),
        Scalar::Null | Scalar::Boolean(_) | Scalar::Float(_) | Scalar::Double(_) => return None,
    })
}

/// Murmur3, 32-bit x86 variant, seed 0.
fn murmur3(bytes: &[u8]) -> u32 {
    let scramble = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = 0u32;
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<4>() {
        hash = (hash ^ scramble(u32::from_le_bytes(*word))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
        rest = tail;
    }
    if !rest.is_empty() {
        hash ^= scramble(rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Year and month (1 to 12) of a day since 1970 in the proleptic Gregorian calendar: years that begin in March,
/// in eras of 400 years.
fn civil(days: i32) -> (i32, i32) {
    const DAYS_PER_ERA: i64 = 146_097;
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        let long = |value: i64| bucket_hash(&Type::Long, Scalar::Long(value)).map(|hash| hash as i32);
        assert_eq!(long(34), Some(2_017_239_379));
        assert_eq!(long(-1), Some(1_651_860_712));
        assert_eq!(long(i64::MAX), Some(-2_106_506_049));
        assert_eq!(murmur3(b"iceberg") as i32, 1_210_000_089);
        assert_eq!(murmur3("naïve".as_bytes()) as i32, 992_511_445);
        assert_eq!(murmur3(&[0, 1, 2, 3]) as i32, -188_683_207);
        assert_eq!(murmur3(&bounds::decimal(1420)) as i32, -500_754_589);
        let nanos = Type::Timestamp { utc: false, nanos: true };
        assert_eq!(bucket_hash(&nanos, Scalar::Long(-1)), bucket_hash(&Type::Long, Scalar::Long(-1)));
    }

    #[test]
    fn times_before_1970_are_rounded_down() {
        let ts = Type::Timestamp { utc: true, nanos: false };
        let apply = |transform: Transform, value: i64| transform.apply(&ts, Scalar::Long(value));
        assert_eq!(apply(Transform::Day, -1), Scalar::Int(-1));
        assert_eq!(apply(Transform::Day, -86_400_000_001), Scalar::Int(-2));
        assert_eq!(apply(Transform::Hour, -3_600_000_001), Scalar::Int(-2));
        assert_eq!(apply(Transform::Year, -1), Scalar::Int(-1));
        assert_eq!(apply(Transform::Month, -1), Scalar::Int(-1));
    }

    #[test]
    fn civil_dates_follow_the_calendar() {
        assert_eq!([0, -1, 59, 11_016, 17_486, -719_468].map(civil), [
            (1970, 1),
            (1969, 12),
            (1970, 3),
            (2000, 2),
            (2017, 11),
            (0, 3),
        ]);
    }
}
