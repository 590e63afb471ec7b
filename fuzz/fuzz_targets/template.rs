//! A chat template of any text, and any message, end with a text or an error. The first line is the message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_language::{ChatTemplate, Message, RenderOptions, Tool};

fuzz_target!(|text: &str| {
    let (message, source) = text.split_once('\n').unwrap_or(("", text));
    let Ok(template) = ChatTemplate::new(source, &[("bos_token", "<s>"), ("eos_token", "</s>")]) else {
        return;
    };
    let messages = [Message::system(message), Message::user(message), Message::assistant(message)];
    let tools = [Tool::function("look", message, serde_json::json!({"type": "object"}))];
    let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
    let _ = template.render(&messages, &tools, &options);
});
