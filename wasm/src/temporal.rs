//! Dates, times and timestamps from text, exact to the unit of their column. Finer digits are cut, which
//! is rounding towards the past. Dates that do not exist, leap seconds and 24:00 are refused.

const MICROS_PER_DAY: i64 = 86_400_000_000;

#[derive(Debug, PartialEq, Eq)]
pub enum TimestampFault {
    Malformed,
    /// An offset where the column has none.
    OffsetGiven,
    /// No offset where the column needs one.
    OffsetMissing,
    OutOfRange,
}

/// `YYYY-MM-DD` → days since 1970-01-01.
pub fn parse_date(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    (bytes.len() == 10).then(|| parse_date_bytes(bytes))?
}

/// `HH:MM[:SS[.f…]]` → microseconds since midnight.
pub fn parse_time(text: &str) -> Option<i64> {
    let (nanos, rest) = parse_clock(text.as_bytes())?;
    rest.is_empty().then_some(nanos / 1000)
}

/// RFC 3339, a blank or `t` allowed for the `T`, seconds optional; the offset is `Z` or `±HH[:]MM`.
pub fn parse_timestamp(text: &str, utc: bool, nanos: bool) -> Result<i64, TimestampFault> {
    let bytes = text.as_bytes();
    if bytes.len() < 16 || !matches!(bytes[10], b'T' | b't' | b' ') {
        return Err(TimestampFault::Malformed);
    }
    let days = parse_date_bytes(&bytes[..10]).ok_or(TimestampFault::Malformed)?;
    let (clock_nanos, rest) = parse_clock(&bytes[11..]).ok_or(TimestampFault::Malformed)?;
    let offset_minutes = match rest {
        [] if utc => return Err(TimestampFault::OffsetMissing),
        [] => 0,
        _ => {
            let minutes = parse_offset(rest).ok_or(TimestampFault::Malformed)?;
            if !utc {
                return Err(TimestampFault::OffsetGiven);
            }
            minutes
        }
    };
    let micros = i64::from(days) * MICROS_PER_DAY + clock_nanos / 1000 - offset_minutes * 60_000_000;
    if !nanos {
        return Ok(micros);
    }
    micros
        .checked_mul(1000)
        .and_then(|value| value.checked_add(clock_nanos % 1000))
        .ok_or(TimestampFault::OutOfRange)
}

fn parse_date_bytes(bytes: &[u8]) -> Option<i32> {
    if bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = two_digits(&bytes[0..2])? * 100 + two_digits(&bytes[2..4])?;
    let month = two_digits(&bytes[5..7])?;
    let day = two_digits(&bytes[8..10])?;
    let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_from_civil(year, month, day))
}

/// Nanoseconds since midnight, and what follows the time.
fn parse_clock(bytes: &[u8]) -> Option<(i64, &[u8])> {
    if bytes.len() < 5 || bytes[2] != b':' {
        return None;
    }
    let (hour, minute) = (two_digits(&bytes[0..2])?, two_digits(&bytes[3..5])?);
    let mut rest = &bytes[5..];
    let mut second = 0;
    let mut nanos = 0;
    if let [b':', tail @ ..] = rest {
        second = two_digits(tail.get(..2)?)?;
        rest = &tail[2..];
        if let [b'.', tail @ ..] = rest {
            let count = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 {
                return None;
            }
            for place in 0..9 {
                nanos = nanos * 10 + if place < count { i64::from(tail[place] - b'0') } else { 0 };
            }
            rest = &tail[count..];
        }
    }
    let valid = hour < 24 && minute < 60 && second < 60;
    valid.then(|| (i64::from((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nanos, rest))
}

fn parse_offset(bytes: &[u8]) -> Option<i64> {
    let (sign, digits) = match bytes {
        [b'Z' | b'z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (two_digits(digits)?, 0),
        4 => (two_digits(&digits[..2])?, two_digits(&digits[2..])?),
        5 if digits[2] == b':' => (two_digits(&digits[..2])?, two_digits(&digits[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes))
}

fn two_digits(bytes: &[u8]) -> Option<i32> {
    let [tens, ones] = bytes else { return None };
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| i32::from(tens - b'0') * 10 + i32::from(ones - b'0'))
}

fn days_in_month(year: i32, month: i32) -> i32 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts from March, so that the leap day ends the year, in eras of 400 years.
fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        assert_eq!(parse_date("1970-01-01"), Some(0));
        assert_eq!(parse_date("2017-11-16"), Some(17486));
        assert_eq!(parse_date("1969-12-31"), Some(-1));
        assert_eq!(parse_date("2000-02-29"), Some(11016));
        assert_eq!(parse_date("0001-01-01"), Some(-719_162));
        for text in ["1900-02-29", "2023-02-30", "2023-13-01", "2023-00-10", "2023-1-01", "2023-01-01T", "żółw-01-0"] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_cut_at_the_microsecond() {
        assert_eq!(parse_time("22:31:08.000001"), Some(81_068_000_001));
        assert_eq!(parse_time("00:00:00.0000019"), Some(1));
        assert_eq!(parse_time("10:20"), Some(37_200_000_000));
        for text in ["24:00:00", "23:59:60", "10:20:", "10:20:30.", "10:20:30Z"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn timestamps_are_exact_and_mind_their_offset() {
        let utc = |text| parse_timestamp(text, true, false);
        assert_eq!(utc("2017-11-16T22:31:08.123456Z"), Ok(1_510_871_468_123_456));
        assert_eq!(utc("2017-11-16T14:31:08-08:00"), Ok(1_510_871_468_000_000));
        assert_eq!(utc("2017-11-16 14:31:08-0800"), Ok(1_510_871_468_000_000));
        assert_eq!(utc("1969-12-31T23:59:59.9999999Z"), Ok(-1));
        assert_eq!(utc("2017-11-16T22:31:08"), Err(TimestampFault::OffsetMissing));
        assert_eq!(utc("2017-02-30T22:31:08Z"), Err(TimestampFault::Malformed));
        assert_eq!(utc("2017-11-16"), Err(TimestampFault::Malformed));
        assert_eq!(parse_timestamp("2017-11-16T22:31:08Z", false, false), Err(TimestampFault::OffsetGiven));
        assert_eq!(parse_timestamp("2017-11-16T22:31:08", false, false), Ok(1_510_871_468_000_000));
        assert_eq!(parse_timestamp("1969-12-31T23:59:59.999999999Z", true, true), Ok(-1));
        assert_eq!(parse_timestamp("9999-01-01T00:00:00Z", true, true), Err(TimestampFault::OutOfRange));
    }
}
