//! The bytes that a token stands for in the middle of a text.

use std::sync::LazyLock;

/// How a vocabulary spells its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// A character a byte, as GPT-2's tokenizer has it (openai/gpt-2, `bytes_to_unicode`).
    ByteLevel,
    /// `▁` for a space and `<0xNN>` for a byte, as SentencePiece has it.
    SentencePiece,
    /// As it is.
    Plain,
}

/// The bytes of `token`.
pub(super) fn of(token: &str, spelling: Spelling) -> Vec<u8> {
    match spelling {
        Spelling::ByteLevel => {
            let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
            bytes.unwrap_or_else(|| token.as_bytes().to_vec())
        }
        Spelling::SentencePiece => match fallback(token) {
            Some(byte) => vec![byte],
            None => token.replace('\u{2581}', " ").into_bytes(),
        },
        Spelling::Plain => token.as_bytes().to_vec(),
    }
}

/// The byte that `<0xNN>` names.
fn fallback(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

fn byte_of(character: char) -> Option<u8> {
    BYTES.get(character as usize).copied().flatten()
}

/// From a character's number to its byte: printable ones stand for themselves, the others follow from 256 on.
static BYTES: LazyLock<[Option<u8>; 324]> = LazyLock::new(|| {
    let mut bytes = [None; 324];
    let mut next = 256;
    for byte in 0..=u8::MAX {
        if matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff) {
            bytes[usize::from(byte)] = Some(byte);
        } else {
            bytes[next] = Some(byte);
            next += 1;
        }
    }
    bytes
});

/// The characters that stand for `bytes` in a byte-level vocabulary.
pub(super) fn spell(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| CHARACTERS[usize::from(byte)]).collect()
}

static CHARACTERS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut characters = ['\0'; 256];
    for (number, byte) in (0_u32..).zip(BYTES.iter()) {
        if let (Some(byte), Some(character)) = (byte, char::from_u32(number)) {
            characters[usize::from(*byte)] = character;
        }
    }
    characters
});
