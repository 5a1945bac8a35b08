//! UUIDs and bytes from text.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// `8-4-4-4-12` hexadecimal digits of either case.
pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut uuid = [0; 16];
    let mut at = 0;
    for (index, byte) in uuid.iter_mut().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            if bytes[at] != b'-' {
                return None;
            }
            at += 1;
        }
        *byte = hex(bytes[at])? << 4 | hex(bytes[at + 1])?;
        at += 2;
    }
    Some(uuid)
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Base64 of either alphabet, padded or not.
pub fn parse_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_need_their_dashes() {
        let bytes = parse_uuid("F79C3E09-677c-4bbd-a479-3f349cb785e7");
        assert_eq!(bytes.map(|bytes| bytes[..3].to_vec()), Some(vec![0xf7, 0x9c, 0x3e]));
        assert_eq!(parse_uuid("f79c3e09677c4bbda4793f349cb785e7"), None);
        assert_eq!(parse_uuid("f79c3e09-677c-4bbd-a479-3f349cb785eg"), None);
        assert_eq!(parse_uuid("f79c3e09-677c-4bbd-a479+3f349cb785e7"), None);
    }

    #[test]
    fn base64_is_taken_with_and_without_padding() {
        assert_eq!(parse_base64("AP8="), Some(vec![0, 255]));
        assert_eq!(parse_base64("AP8"), Some(vec![0, 255]));
        assert_eq!(parse_base64("_-8"), Some(vec![0xff, 0xef]));
        assert_eq!(parse_base64(""), Some(vec![]));
        assert_eq!(parse_base64("a!"), None);
    }
}
