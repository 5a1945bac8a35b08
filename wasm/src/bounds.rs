//! Lower and upper bounds in Iceberg's single-value form. Spec: "Appendix D: Single-value serialization";
//! `units_max` are code points of a string or bytes of a binary value, as `truncate(16)` asks.

/// A prefix is never above the value it was cut from.
pub fn lower_string(value: &str, units_max: usize) -> &str {
    match value.char_indices().nth(units_max) {
        Some((end, _)) => &value[..end],
        None => value,
    }
}

/// The prefix, its last code point that can be raised raised, what follows it dropped. `None` when there is
/// no such code point: then there is no upper bound that short.
pub fn upper_string(value: &str, units_max: usize) -> Option<String> {
    let prefix = lower_string(value, units_max);
    if prefix.len() == value.len() {
        return Some(value.to_owned());
    }
    for (at, last) in prefix.char_indices().rev() {
        if let Some(raised) = next_char(last) {
            return Some(format!("{}{raised}", &prefix[..at]));
        }
    }
    None
}

/// Skips the surrogates, which are no characters.
fn next_char(character: char) -> Option<char> {
    match u32::from(character) {
        0xd7ff => Some('\u{e000}'),
        code => char::from_u32(code + 1),
    }
}

pub fn lower_binary(value: &[u8], units_max: usize) -> &[u8] {
    &value[..value.len().min(units_max)]
}

pub fn upper_binary(value: &[u8], units_max: usize) -> Option<Vec<u8>> {
    if value.len() <= units_max {
        return Some(value.to_vec());
    }
    let prefix = &value[..units_max];
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut raised = prefix[..=last].to_vec();
    raised[last] += 1;
    Some(raised)
}

/// Big-endian two's complement in as few bytes as hold it.
pub fn decimal(unscaled: i128) -> Vec<u8> {
    let bytes = unscaled.to_be_bytes();
    let filler = if unscaled < 0 { 0xff } else { 0 };
    let mut start = 0;
    // A byte may go while the sign can still be read off the next one.
    while start < 15 && bytes[start] == filler && (bytes[start + 1] ^ filler) & 0x80 == 0 {
        start += 1;
    }
    bytes[start..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_bounds_of_strings_are_raised_by_code_points() {
        let a15 = "a".repeat(15);
        let cases = [
            ("abcdefghijklmnoй-tail".to_owned(), Some("abcdefghijklmnoк".to_owned())),
            (format!("{a15}\u{d7ff}zz"), Some(format!("{a15}\u{e000}"))),
            (format!("ab{}z", "\u{10ffff}".repeat(14)), Some("ac".to_owned())),
            ("\u{10ffff}".repeat(20), None),
            ("😀".repeat(20), Some(format!("{}\u{1f601}", "😀".repeat(15)))),
            ("exactly sixteen!".to_owned(), Some("exactly sixteen!".to_owned())),
        ];
        for (value, upper) in cases {
            assert_eq!(upper_string(&value, 16), upper);
            assert!(upper.is_none_or(|upper| upper.as_bytes() >= value.as_bytes()));
            assert!(value.starts_with(lower_string(&value, 16)));
        }
        assert_eq!(lower_string("abcdefghijklmnoй-tail", 16), "abcdefghijklmnoй");
    }

    #[test]
    fn upper_bounds_of_bytes_are_raised_or_left_out() {
        assert_eq!(upper_binary(&[0xff; 17], 16), None);
        assert_eq!(upper_binary(&[0xff; 16], 16), Some(vec![0xff; 16]));
        let mut value = vec![1; 15];
        value.extend([0xff, 0]);
        let mut upper = vec![1; 14];
        upper.push(2);
        assert_eq!(upper_binary(&value, 16), Some(upper));
    }

    #[test]
    fn decimals_take_as_few_bytes_as_hold_their_sign() {
        for (value, bytes) in [
            (0, vec![0]),
            (-128, vec![0x80]),
            (128, vec![0, 0x80]),
            (12345, vec![0x30, 0x39]),
            (-1, vec![0xff]),
            (-129, vec![0xff, 0x7f]),
        ] {
            assert_eq!(decimal(value), bytes);
        }
    }
}
