//! What the parts of a `tokenizer.json` may cost: a few of its bytes could ask for all memory.

use serde_json::Value;

/// Steps in all; known tokenizers have fewer than twenty.
const MOST_STEPS: usize = 128;
/// Regular expressions in all; each may take megabytes.
const MOST_REGEXES: usize = 16;
/// A token becomes no more than so many times its length.
const MOST_DECODED: u64 = 64;

/// How many times longer than a text what is made of it may be. Refuses parts that cost too much.
pub(super) fn growth(normalizer: &Value, pre_tokenizer: &Value, decoder: &Value) -> Result<u64, String> {
    let (mut normal, mut cut, mut decoded) = (Cost::new(), Cost::new(), Cost::new());
    normal.add(normalizer)?;
    cut.add(pre_tokenizer)?;
    decoded.add(decoder)?;
    let steps = normal.steps + cut.steps + decoded.steps;
    let regexes = normal.regexes + cut.regexes + decoded.regexes;
    if steps > MOST_STEPS || regexes > MOST_REGEXES {
        return Err(format!(
            "it has {steps} steps and {regexes} regular expressions; {MOST_STEPS} and {MOST_REGEXES} can be used"
        ));
    }
    if decoded.growth > MOST_DECODED {
        return Err("its decoder would make tokens too long".to_owned());
    }
    Ok(normal.growth.saturating_mul(cut.growth))
}

struct Cost {
    steps: usize,
    regexes: usize,
    growth: u64,
}

impl Cost {
    fn new() -> Self {
        Self { steps: 0, regexes: 0, growth: 1 }
    }

    fn add(&mut self, step: &Value) -> Result<(), String> {
        for list in ["normalizers", "pretokenizers", "decoders"] {
            for inner in step.get(list).and_then(Value::as_array).into_iter().flatten() {
                self.add(inner)?;
            }
        }
        self.steps += 1;
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let pattern = step.get("pattern").unwrap_or(&Value::Null);
        self.regexes += usize::from(pattern.get("Regex").is_some());
        let growth = match text("type") {
            "Replace" => replaced(pattern, text("content"))?,
            "Prepend" => text("prepend").len() as u64 + 1,
            "Precompiled" => longest(text("precompiled_charsmap"))?,
            // The most that Unicode's compatibility forms make of a character, in bytes for a byte.
            "NFKC" | "NFKD" => 12,
            "NFC" | "NFD" | "Lowercase" | "BertNormalizer" | "ByteLevel" | "Metaspace" => 3,
            _ => 1,
        };
        self.growth = self.growth.saturating_mul(growth.max(1));
        Ok(())
    }
}

/// Bytes for a byte of what is replaced.
fn replaced(pattern: &Value, content: &str) -> Result<u64, String> {
    if let Some(text) = pattern.get("String").and_then(Value::as_str) {
        if text.is_empty() {
            return Err("it replaces an empty text".to_owned());
        }
        return Ok(content.len().div_ceil(text.len()) as u64);
    }
    // An expression may match between all bytes.
    Ok(content.len() as u64 + 1)
}

/// The longest text of a map of characters; the map itself is looked through too.
fn longest(map: &str) -> Result<u64, String> {
    let map = super::base64::decode(map.as_bytes()).ok_or("its map of characters is not base64")?;
    super::charsmap::check(&map)?;
    Ok(map.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(1).min(1 << 20) as u64)
}

#[cfg(test)]
mod tests {
    use super::growth;
    use serde_json::{Value, json};

    #[test]
    fn texts_that_grow_at_each_step_are_counted() {
        let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
        let steps = json!({"type": "Sequence", "normalizers": vec![double; 40]});
        assert_eq!(growth(&steps, &Value::Null, &Value::Null), Ok(1 << 40));
        let decoder = json!({"type": "Sequence", "decoders": steps["normalizers"]});
        assert!(growth(&Value::Null, &Value::Null, &decoder).unwrap_err().contains("too long"));
    }

    #[test]
    fn many_expressions_are_refused() {
        let split = json!({"type": "Split", "pattern": {"Regex": "(a{99}){99}"}});
        let steps = json!({"type": "Sequence", "pretokenizers": vec![split; 99]});
        assert!(growth(&Value::Null, &steps, &Value::Null).unwrap_err().contains("99 regular expressions"));
    }
}
