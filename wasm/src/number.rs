//! Numbers from the digits of the input, so that nothing passes through a binary fraction on its way
//! to an exact type. `text` is always a valid JSON number.

use crate::rejection::Rejection;

/// Beyond this many places neither a long nor a decimal can hold a number.
const DIGITS_MAX: i64 = 40;

/// `digits * 10^exponent`; digits without leading and trailing zeros, none for zero.
struct Digits {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut exponent = exponent.saturating_sub(fraction.len() as i64);
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.saturating_add(1);
        }
        Self { negative, digits, exponent }
    }

    /// `self * 10^shift` as an integer; `Err(true)`: it has a fraction, `Err(false)`: too large.
    fn scaled(&self, shift: i64) -> Result<i128, bool> {
        if self.digits.is_empty() {
            return Ok(0);
        }
        let zeros = self.exponent.saturating_add(shift);
        if zeros < 0 {
            return Err(true);
        }
        if zeros.saturating_add(self.digits.len() as i64) > DIGITS_MAX {
            return Err(false);
        }
        let mut value: i128 = 0;
        let zeros = std::iter::repeat_n(b'0', zeros as usize);
        for digit in self.digits.iter().copied().chain(zeros) {
            let shifted = value.checked_mul(10).and_then(|value| value.checked_add(i128::from(digit - b'0')));
            value = shifted.ok_or(false)?;
        }
        Ok(if self.negative { -value } else { value })
    }
}

fn parse_exponent(text: &str) -> i64 {
    let negative = text.starts_with('-');
    text.parse::<i64>().unwrap_or(if negative { i64::MIN / 4 } else { i64::MAX / 4 })
}

/// True for a number without fraction and exponent.
pub fn is_integer_literal(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Takes 1.0 and 1e3, because they are whole, and -0 as 0.
pub fn parse_long(text: &str) -> Result<i64, Rejection> {
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    match Digits::of(text).scaled(0) {
        Ok(value) => i64::try_from(value).map_err(|_| Rejection::out_of_range("long", text)),
        Err(true) => Err(Rejection::mismatch("a whole number for long", text)),
        Err(false) => Err(Rejection::out_of_range("long", text)),
    }
}

pub fn parse_int(text: &str) -> Result<i32, Rejection> {
    match parse_long(text) {
        Ok(value) => i32::try_from(value).map_err(|_| Rejection::out_of_range("int", text)),
        Err(rejection) if rejection.code == "value.out-of-range" => Err(Rejection::out_of_range("int", text)),
        Err(_) => Err(Rejection::mismatch("a whole number for int", text)),
    }
}

/// Rounds decimal fractions as every double does, but refuses whole numbers it cannot hold.
pub fn parse_double(text: &str) -> Result<f64, Rejection> {
    let value: f64 = text.parse().map_err(|_| Rejection::mismatch("double", text))?;
    if value.is_infinite() {
        return Err(Rejection::out_of_range("double", text));
    }
    if is_integer_literal(text) && !holds_exactly(value, text) {
        return Err(Rejection::inexact("double", text));
    }
    Ok(value)
}

/// Rounds once, from the text: by way of a double it would round twice.
pub fn parse_float(text: &str) -> Result<f32, Rejection> {
    let value: f32 = text.parse().map_err(|_| Rejection::mismatch("float", text))?;
    if value.is_infinite() {
        return Err(Rejection::out_of_range("float", text));
    }
    if is_integer_literal(text) && !holds_exactly(f64::from(value), text) {
        return Err(Rejection::inexact("float", text));
    }
    Ok(value)
}

fn holds_exactly(value: f64, integer: &str) -> bool {
    // Formatting without a fraction writes the exact value of a double that is whole.
    format!("{:.0}", value.abs()) == integer.trim_start_matches('-')
}

/// The unscaled value. Zeros at the end of the fraction do not count against the scale.
pub fn parse_decimal(text: &str, precision: u8, scale: i8) -> Result<i128, Rejection> {
    let expected = || format!("decimal({precision},{scale})");
    match Digits::of(text).scaled(i64::from(scale)) {
        Ok(value) if value.unsigned_abs() < 10u128.pow(u32::from(precision)) => Ok(value),
        Ok(_) | Err(false) => Err(Rejection::out_of_range(&expected(), text)),
        Err(true) => Err(Rejection::inexact(&expected(), text)),
    }
}

/// Whether a string has the grammar of a JSON number, for decimals given as text.
pub fn is_json_number(text: &str) -> bool {
    let starts = text.bytes().next().is_some_and(|byte| byte == b'-' || byte.is_ascii_digit());
    let ends = text.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit());
    starts && ends && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_are_exact_or_refused() {
        assert_eq!(parse_long("9007199254740993"), Ok(9_007_199_254_740_993));
        assert_eq!(parse_long("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse_long("1.0"), Ok(1));
        assert_eq!(parse_long("1e3"), Ok(1000));
        assert_eq!(parse_long("1200e-2"), Ok(12));
        assert_eq!(parse_long("-0"), Ok(0));
        assert_eq!(parse_long("0e99999999999999999999"), Ok(0));
        for (text, code) in [
            ("1.5", "value.type-mismatch"),
            ("1.00000000000000000001", "value.type-mismatch"),
            ("9223372036854775808", "value.out-of-range"),
            ("1e19", "value.out-of-range"),
            ("1e99999999999999999999", "value.out-of-range"),
            ("1e-99999999999999999999", "value.type-mismatch"),
        ] {
            assert_eq!(parse_long(text).map_err(|rejection| rejection.code), Err(code), "{text}");
        }
        assert_eq!(parse_int("2147483648").map_err(|rejection| rejection.code), Err("value.out-of-range"));
        assert_eq!(parse_int("0.5").map_err(|rejection| rejection.code), Err("value.type-mismatch"));
    }

    #[test]
    fn doubles_round_fractions_and_refuse_whole_numbers_they_cannot_hold() {
        assert_eq!(parse_double("0.1"), Ok(0.1));
        assert_eq!(parse_double("9007199254740992"), Ok(9_007_199_254_740_992.0));
        assert_eq!(parse_double("18446744073709551616"), Ok(18_446_744_073_709_551_616.0));
        assert!(parse_double("-0.0").is_ok_and(|value| value == 0.0 && value.is_sign_negative()));
        assert_eq!(parse_double("9007199254740993").map_err(|rejection| rejection.code), Err("value.inexact"));
        assert_eq!(parse_double("1e400").map_err(|rejection| rejection.code), Err("value.out-of-range"));
        assert_eq!(parse_float("1e39").map_err(|rejection| rejection.code), Err("value.out-of-range"));
        assert_eq!(parse_float("16777217").map_err(|rejection| rejection.code), Err("value.inexact"));
    }

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(parse_decimal("123.45", 6, 2), Ok(12345));
        assert_eq!(parse_decimal("1.500", 6, 2), Ok(150));
        assert_eq!(parse_decimal("-1e2", 6, 2), Ok(-10000));
        assert_eq!(parse_decimal("0.005", 6, 2).map_err(|rejection| rejection.code), Err("value.inexact"));
        assert_eq!(parse_decimal("10000", 6, 2).map_err(|rejection| rejection.code), Err("value.out-of-range"));
        let widest = "99999999999999999999999999999999999999";
        assert_eq!(parse_decimal(widest, 38, 0), Ok(99_999_999_999_999_999_999_999_999_999_999_999_999));
        assert!(is_json_number("1.5") && !is_json_number("") && !is_json_number(" 1") && !is_json_number("1 "));
        assert!(!is_json_number("NaN") && !is_json_number("01"));
    }
}
