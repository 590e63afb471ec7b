//! A chat template of any text is refused, or rendered within its limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_language::{ChatTemplate, Message, RenderOptions, SpecialTokens, Tool};

fuzz_target!(|source: &str| {
    let Ok(template) = ChatTemplate::new(source, SpecialTokens::default()) else { return };
    let arguments = serde_json::json!({"a": [1, null, "x"]});
    let messages =
        [Message::system("S"), Message::user("Hello"), Message::assistant("").calling("f", &arguments)];
    let tools = [Tool::function("f", "does", &serde_json::json!({"type": "object", "properties": {}}))];
    let _ = template.render(&messages, &tools, &RenderOptions::default());
});
