//! Base64 with its usual alphabet, as tiktoken's files and precompiled maps of characters have it.

/// The bytes of `text`; `None` if it is not base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    if padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return None;
    }
    let digits = &text[..text.len() - padding];
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0_u32, 0);
    for &digit in digits {
        bits = bits << 6 | u32::from(value(digit)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

/// The text of `bytes`, padded.
pub(super) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn any_length_is_decoded_and_other_characters_are_refused() {
        assert_eq!(decode(b"").unwrap(), b"");
        assert_eq!(decode(b"IQ==").unwrap(), b"!");
        assert_eq!(decode(b"aGk=").unwrap(), b"hi");
        assert_eq!(decode(b"4paB").unwrap(), "\u{2581}".as_bytes());
        assert_eq!([&b"!"[..], b"hi", b"abc"].map(encode), ["IQ==", "aGk=", "YWJj"]);
        assert_eq!(decode(b"aGk").unwrap(), b"hi");
        for bad in [&b"a"[..], b"a===", b"aG.=", b"=aGk", b"IQ=", "é".as_bytes()] {
            assert_eq!(decode(bad), None);
        }
    }
}
