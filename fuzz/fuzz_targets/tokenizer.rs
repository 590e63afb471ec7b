//! A tokenizer file of any bytes, of any kind, is read or refused, and what is read takes texts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_language::{EncodeOptions, Tokenizer};

fuzz_target!(|bytes: &[u8]| {
    let Ok(tokenizer) = Tokenizer::from_bytes(bytes, "fuzzed") else { return };
    for special in [false, true] {
        let options = EncodeOptions { add_special: special, parse_special: special };
        if let Ok(ids) = tokenizer.encode("Hello,  wörld \u{1f980}\n<s>12 ﬁ", options) {
            let _ = tokenizer.decode(&ids, special);
        }
    }
    for id in 0..tokenizer.vocab_size().min(1 << 10) as u32 {
        assert!(tokenizer.token_bytes(id).is_some() || !tokenizer.is_added(id));
    }
});
