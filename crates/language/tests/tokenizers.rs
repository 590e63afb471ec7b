//! A tiny tokenizer of each kind, made by `reference/tiny.py`, whole and damaged.

use nearside_language::{EncodeOptions, Error, Tokenizer};
use std::fs;
use std::path::PathBuf;

const KINDS: [&str; 5] = ["tokenizer.json", "tiktoken.model", "tiny.gguf", "unigram.model", "bpe.model"];
const PLAIN: EncodeOptions = EncodeOptions { add_special: false, parse_special: false };

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tokenizers").join(name)
}

#[test]
fn every_kind_is_told_by_its_content_and_gives_texts_back() {
    for name in KINDS {
        let tokenizer = Tokenizer::open(file(name)).unwrap();
        for text in ["hello world", "héllo 👩‍👩‍👧‍👦 हिन्दी"] {
            let ids = tokenizer.encode(text, PLAIN).unwrap();
            assert_eq!(tokenizer.decode(&ids, false).unwrap(), text, "{name}");
            let bytes: Vec<u8> =
                ids.iter().flat_map(|&id| tokenizer.token_bytes(id).unwrap()).copied().collect();
            let bytes =
                bytes.strip_prefix(b" ").filter(|_| tokenizer.strips_leading_space()).unwrap_or(&bytes);
            assert_eq!(String::from_utf8_lossy(bytes), text, "{name}");
        }
        let hello = tokenizer.encode("hello", PLAIN).unwrap();
        assert_eq!(hello.len(), 1, "{name}: {hello:?}");
    }
}

#[test]
fn special_tokens_in_a_text_are_tokens_only_if_asked_for() {
    let tokenizer = Tokenizer::open(file("tiny.gguf")).unwrap();
    let end = tokenizer.id_of("<|end|>").unwrap();
    assert!(tokenizer.is_special(end));
    assert_eq!(tokenizer.eos_ids(), [end]);
    assert_eq!(tokenizer.chat_template(), Some("{{ messages[0].content }}"));
    let parsed = EncodeOptions { parse_special: true, ..PLAIN };
    assert_eq!(tokenizer.encode("<|end|>", parsed).unwrap(), [end]);
    assert!(!tokenizer.encode("<|end|>", PLAIN).unwrap().contains(&end));
}

#[test]
fn files_that_are_cut_short_are_refused() {
    for name in ["tokenizer.json", "tiny.gguf", "tiktoken.model"] {
        let whole = fs::read(file(name)).unwrap();
        for length in (0..whole.len() - 8).step_by(97) {
            let error = Tokenizer::from_bytes(&whole[..length], name);
            let is_refused = matches!(error, Err(Error::Tokenizer { .. }));
            // The tokens of a tiktoken file are whole at the end of each line, once there is one for each byte.
            assert!(is_refused || name == "tiktoken.model", "{name} {length}");
        }
    }
}

#[test]
fn changed_bytes_never_end_in_a_panic() {
    for name in KINDS {
        let whole = fs::read(file(name)).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 150) {
            for by in [0, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[at] = by;
                if let Ok(tokenizer) = Tokenizer::from_bytes(&changed, name) {
                    let _ = tokenizer.encode("hello  wörld<s>", PLAIN);
                }
            }
        }
    }
}
