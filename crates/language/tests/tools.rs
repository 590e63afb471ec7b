//! Tool calls in answers of each format, however the answer is cut into pieces.
#![allow(missing_docs)]

mod common;

use common::{Numbers, byte_level};
use nearside_language::{
    Error, GrammarCompiler, Sampler, SamplingOptions, ToolCall, ToolEvent, ToolFormat, ToolParser,
    ToolSignature,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const FORMATS: [ToolFormat; 6] = [
    ToolFormat::Hermes,
    ToolFormat::QwenCoder,
    ToolFormat::Glm,
    ToolFormat::Llama,
    ToolFormat::Mistral,
    ToolFormat::Gemma,
];

fn tools() -> Vec<ToolSignature> {
    let weather = json!({"type": "function", "function": {"name": "weather", "parameters": {
        "type": "object", "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 9},
            "at": {"$ref": "#/$defs/place"}},
        "required": ["city", "days"], "additionalProperties": false,
        "$defs": {"place": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "minItems": 2,
            "maxItems": 2}}}}});
    let clock = json!({"name": "clock"});
    [weather, clock].iter().map(|tool| ToolSignature::from_json(tool).unwrap()).collect()
}

/// All events of `answer`, texts that follow each other as one.
fn events(format: ToolFormat, pieces: &[&str]) -> Vec<ToolEvent> {
    let mut parser = ToolParser::new(format, &tools());
    let mut all: Vec<ToolEvent> = Vec::new();
    let mut add = |events: Vec<ToolEvent>| {
        for event in events {
            match (all.last_mut(), event) {
                (Some(ToolEvent::Text(last)), ToolEvent::Text(text)) => last.push_str(&text),
                (_, event) => all.push(event),
            }
        }
    };
    pieces.iter().for_each(|piece| add(parser.push(piece)));
    add(parser.finish());
    all
}

fn text(text: &str) -> ToolEvent {
    ToolEvent::Text(text.into())
}

fn call(name: &str, arguments: Value) -> ToolEvent {
    let Value::Object(arguments) = arguments else { panic!() };
    ToolEvent::Call(ToolCall { name: name.into(), arguments, id: None })
}

fn call_with_id(name: &str, arguments: Value, id: &str) -> ToolEvent {
    let ToolEvent::Call(call) = call(name, arguments) else { panic!() };
    ToolEvent::Call(ToolCall { id: Some(id.into()), ..call })
}

/// An answer in its format, and what it is made of.
fn answers() -> Vec<(ToolFormat, &'static str, Vec<ToolEvent>)> {
    let paris = || call("weather", json!({"city": "Paris", "days": 2}));
    let clock = || call("clock", json!({}));
    vec![
        (
            ToolFormat::Hermes,
            "Let me see.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 2}}\n</tool_call>\n<tool_call>{\"name\": \"clock\"}</tool_call>",
            vec![text("Let me see.\n"), paris(), text("\n"), clock()],
        ),
        // The end of the answer in place of the closing tag.
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"clock\", \"arguments\": null}", vec![clock()]),
        // Arguments as a string, an id, and OpenAI's inner object.
        (
            ToolFormat::Hermes,
            r#"<tool_call>{"id": "c1", "function": {"name": "weather", "arguments": "{\"city\": \"Paris\", \"days\": 2}"}}</tool_call>ok"#,
            vec![call_with_id("weather", json!({"city": "Paris", "days": 2}), "c1"), text("ok")],
        ),
        // Tags and brackets in strings end nothing.
        (
            ToolFormat::Hermes,
            r#"<tool_call>{"name": "weather", "arguments": {"city": "a }\" </tool_call> b", "days": 1}}</tool_call>"#,
            vec![call("weather", json!({"city": "a }\" </tool_call> b", "days": 1}))],
        ),
        (
            ToolFormat::QwenCoder,
            "Sure.\n<tool_call>\n<function=weather>\n<parameter=city>\nNew \"York\"\n{x}\n</parameter>\n<parameter=days>\n3\n</parameter>\n<parameter=at>\n[1, 2]\n</parameter>\n</function>\n</tool_call>",
            vec![
                text("Sure.\n"),
                call("weather", json!({"city": "New \"York\"\n{x}", "days": 3, "at": [1, 2]})),
            ],
        ),
        // A city that looks like a number is text all the same: its schema says so.
        (
            ToolFormat::QwenCoder,
            "<function=weather><parameter=city>75001</parameter><parameter=days>2</parameter></function>",
            vec![call("weather", json!({"city": "75001", "days": 2}))],
        ),
        (
            ToolFormat::Glm,
            "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>75001</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call> done",
            vec![call("weather", json!({"city": "75001", "days": 2})), text(" done")],
        ),
        (ToolFormat::Glm, "<tool_call>clock</tool_call>", vec![clock()]),
        (
            ToolFormat::Llama,
            "{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\", \"days\": 2}}; {\"name\": \"clock\", \"parameters\": {}}",
            vec![paris(), clock()],
        ),
        (ToolFormat::Llama, "<|python_tag|>{\"name\": \"clock\", \"parameters\": {}}", vec![clock()]),
        (
            ToolFormat::Llama,
            "<|python_tag|>brave_search.call(query=\"rust \\u00e9\")",
            vec![call("brave_search", json!({"query": "rust é"}))],
        ),
        (ToolFormat::Llama, "[weather(city='Paris', days=2), clock()]", vec![paris(), clock()]),
        // JSON that was asked for.
        (ToolFormat::Llama, "{\"answer\": 42} is it", vec![text("{\"answer\": 42} is it")]),
        (ToolFormat::Llama, "The set {1, 2} [3]", vec![text("The set {1, 2} [3]")]),
        (
            ToolFormat::Mistral,
            "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 2}, \"id\": \"abcdefghi\"}, {\"name\": \"clock\", \"arguments\": {}}]",
            vec![call_with_id("weather", json!({"city": "Paris", "days": 2}), "abcdefghi"), clock()],
        ),
        (
            ToolFormat::Mistral,
            "[TOOL_CALLS]weather[CALL_ID]123[ARGS]{\"city\": \"Paris\", \"days\": 2}[TOOL_CALLS]clock{}",
            vec![call_with_id("weather", json!({"city": "Paris", "days": 2}), "123"), clock()],
        ),
        (
            ToolFormat::Gemma,
            "I look.\n```tool_code\nprint(default_api.weather(city=\"Paris\", days=2))\nclock()\n```\n",
            vec![text("I look.\n"), paris(), clock(), text("\n")],
        ),
        (ToolFormat::Gemma, "```json\n[{\"name\": \"clock\", \"parameters\": {}}]\n```", vec![clock()]),
        (ToolFormat::Gemma, "```json\n{\"a\": 1}\n```!", vec![text("```json\n{\"a\": 1}\n```!")]),
        (
            ToolFormat::Gemma,
            "{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\", \"days\": 2}}",
            vec![paris()],
        ),
        (
            ToolFormat::Gemma,
            "```tool_code\nweather(city='''a'b''', at=[1, -2.5e1, None, {'k': (True, \"x\")}],)\n```",
            vec![call("weather", json!({"city": "a'b", "at": [1, -25.0, null, {"k": [true, "x"]}]}))],
        ),
    ]
}

#[test]
fn answers_of_each_format_become_text_and_calls() {
    for (format, answer, expected) in answers() {
        assert_eq!(events(format, &[answer]), expected, "{format:?}: {answer}");
    }
}

#[test]
fn pieces_of_one_character_give_the_same() {
    for (format, answer, expected) in answers() {
        let pieces: Vec<&str> = answer.split("").collect();
        assert_eq!(events(format, &pieces), expected, "{format:?}: {answer}");
    }
}

#[test]
fn text_streams_as_soon_as_it_can_be_no_call_and_calls_come_at_their_last_byte() {
    let mut parser = ToolParser::new(ToolFormat::Hermes, &[]);
    assert_eq!(parser.push("a < b <tool"), [text("a < b ")]);
    assert_eq!(parser.push("box> c"), [text("<toolbox> c")]);
    assert_eq!(parser.push("<tool_call>{\"name\": \"clock\""), []);
    assert_eq!(parser.push("}"), []);
    assert_eq!(parser.push("</tool_call>"), [call("clock", json!({}))]);
    assert_eq!(parser.push("done"), [text("done")]);

    let mut parser = ToolParser::new(ToolFormat::Llama, &[]);
    assert_eq!(parser.push("Hello"), [text("Hello")]);
    assert_eq!(parser.push(" {"), [text(" {")], "too late for a bare call");
    assert_eq!(parser.finish(), []);
    assert_eq!(parser.push("{\"name\": \"clock\", \"parameters\": {}}"), [call("clock", json!({}))]);
}

#[test]
fn malformed_calls_are_events_with_all_of_their_text() {
    let cases = [
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"x\", }</tool_call>", "not JSON"),
        (ToolFormat::Hermes, "<tool_call>{\"arguments\": {}}</tool_call>", "no `name`"),
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"x\", \"arguments\": [1]}</tool_call>", "no object"),
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"x\", \"arguments\": \"{\"}</tool_call>", "not JSON"),
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"x\", \"argu", "breaks off"),
        (ToolFormat::Hermes, "<tool_call>{\"name\": \"x\"</tool_call>", "not JSON"),
        (ToolFormat::Hermes, "<tool_call>", "breaks off"),
        (
            ToolFormat::QwenCoder,
            "<tool_call><function=f><parameter=x>1</function></tool_call>",
            "does not end",
        ),
        (ToolFormat::Glm, "<tool_call>two words</tool_call>", "no name"),
        (ToolFormat::Llama, "{\"name\": \"x\", \"parameters\": 3}", "no object"),
        (ToolFormat::Llama, "<|python_tag|>import os", "unexpected"),
        (ToolFormat::Llama, "{\"name\": \"x\", \"parameters\": {", "breaks off"),
        (ToolFormat::Mistral, "[TOOL_CALLS]no call", "breaks off"),
        (ToolFormat::Mistral, "[TOOL_CALLS][]", "empty"),
        (ToolFormat::Gemma, "```tool_code\nweather(\"Paris\")\n```", "unexpected"),
        (ToolFormat::Gemma, "```tool_code\nweather(city=other())\n```", "no literal"),
        (ToolFormat::Gemma, "```tool_code\n\n```", "no call"),
    ];
    for (format, answer, expected) in cases {
        let pieces: Vec<&str> = answer.split("").collect();
        for pieces in [&[answer][..], &pieces] {
            match &events(format, pieces)[..] {
                [ToolEvent::Malformed { raw, reason }] => {
                    assert_eq!(raw, answer);
                    assert!(reason.contains(expected), "{answer}: {reason}");
                }
                other => panic!("{format:?} {answer}: {other:?}"),
            }
        }
    }
}

#[test]
fn hostile_answers_end_in_errors() {
    let deep = format!("<tool_call>{{\"name\": \"x\", \"arguments\": {}", "{\"a\":".repeat(100_000));
    assert!(matches!(&events(ToolFormat::Hermes, &[&deep])[..], [ToolEvent::Malformed { .. }]));
    let closed = format!("<tool_call>{}{}</tool_call>", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(&events(ToolFormat::Hermes, &[&closed])[..], [ToolEvent::Malformed { .. }]));
    let python = format!("```tool_code\nf(x={}1{})\n```", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(&events(ToolFormat::Gemma, &[&python])[..], [ToolEvent::Malformed { .. }]));
    let prints = format!("```tool_code\n{}f(){}\n```", "print(".repeat(50_000), ")".repeat(50_000));
    assert!(matches!(&events(ToolFormat::Gemma, &[&prints])[..], [ToolEvent::Malformed { .. }]));
    let long = format!("<tool_call>{{\"name\": \"{}", "x".repeat(2 << 20));
    assert!(matches!(&events(ToolFormat::Hermes, &[&long])[..], [ToolEvent::Malformed { .. }]));
}

proptest! {
    #[test]
    fn no_answer_panics_or_loses_its_text_and_pieces_make_no_difference(
        parts in proptest::collection::vec(prop_oneof![
            Just("<tool_call>"), Just("</tool_call>"), Just("{\"name\": \"f\""), Just("}"), Just("{"), Just("[TOOL_CALLS]"),
            Just("[ARGS]"), Just("<function=f>"), Just("</function>"), Just("<parameter=a>"), Just("</parameter>"),
            Just("<|python_tag|>"), Just("```tool_code\n"), Just("\n```"), Just("```json\n"), Just("f(a=1)"), Just("é🙂"),
            Just("["), Just("]"), Just("\""), Just("\\"), Just("'"), Just(" "), Just("\n"), Just(";"), Just("text"),
            Just("<arg_key>k</arg_key>"), Just("<arg_value>1</arg_value>"), Just(", \"arguments\": {}"),
        ], 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let answer = parts.concat();
        for format in FORMATS {
            let whole = events(format, &[&answer]);
            let characters: Vec<&str> = answer.split("").collect();
            let cut = cut.index(parts.len() + 1);
            let halves = [parts[..cut].concat(), parts[cut..].concat()];
            prop_assert_eq!(&events(format, &[&halves[0], &halves[1]]), &whole, "{:?}", format);
            prop_assert_eq!(&events(format, &characters), &whole, "{:?}", format);
            if !whole.iter().any(|event| matches!(event, ToolEvent::Call(_))) {
                let mut rest = answer.as_str();
                for event in &whole {
                    let (ToolEvent::Text(part) | ToolEvent::Malformed { raw: part, .. }) = event else { continue };
                    // The separators in front of a bare call are no part of it.
                    rest = match rest.strip_prefix(part.as_str()) {
                        Some(rest) => rest,
                        None => {
                            let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
                            prop_assert!(skipped.starts_with(part.as_str()), "{:?}: {:?}", format, whole);
                            &skipped[part.len()..]
                        }
                    };
                }
                prop_assert_eq!(rest, "", "{:?}: {:?}", format, whole);
            }
        }
    }
}

#[test]
fn the_format_is_told_by_the_template() {
    let cases = [
        ("…<tool_call>\n{\"name\": <function-name>…", Some(ToolFormat::Hermes)),
        ("<tool_call>\n<function=example>\n<parameter=…", Some(ToolFormat::QwenCoder)),
        ("<tool_call>{function-name}\n<arg_key>…", Some(ToolFormat::Glm)),
        ("{{ bos_token }}[INST]…[TOOL_CALLS]", Some(ToolFormat::Mistral)),
        ("<|start_header_id|>…{% if tools %}", Some(ToolFormat::Llama)),
        ("<start_of_turn>user", Some(ToolFormat::Gemma)),
        ("<|im_start|>user\n{{ content }}<|im_end|>", None),
    ];
    for (template, format) in cases {
        assert_eq!(ToolFormat::of_template(template), format, "{template}");
    }
}

#[test]
fn special_tokens_that_begin_calls_are_named() {
    let tokenizer = byte_level();
    let calls = tokenizer.id_of("[TOOL_CALLS]").unwrap();
    assert_eq!(ToolFormat::Mistral.special_tokens(&tokenizer), [calls]);
    assert!(ToolFormat::Hermes.special_tokens(&tokenizer).is_empty(), "a plain token there");
}

#[test]
fn forced_calls_are_calls_of_the_tools_with_valid_arguments_in_each_format() {
    let tokenizer = byte_level();
    let end = tokenizer.id_of("<|im_end|>").unwrap();
    let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
    let tools = tools();
    let mut numbers = Numbers(3);
    let mut named = std::collections::HashSet::new();
    for format in FORMATS {
        let constraint = compiler.compile(&format.grammar(&tools, &tokenizer).unwrap()).unwrap();
        for seed in 0..20 {
            let mut constraint = constraint.clone();
            let options = SamplingOptions { seed: Some(seed), ..Default::default() };
            let mut sampler = Sampler::new(&options, tokenizer.vocab_size()).unwrap();
            let mut ids = Vec::new();
            while !constraint.is_complete() {
                let late = ids.len() > 40;
                // Later on, towards the end of JSON and of the tag that was begun.
                let said = tokenizer.decode(&ids, false).unwrap();
                let next = match format {
                    ToolFormat::QwenCoder => Some("</parameter>"),
                    ToolFormat::Glm => Some("</arg_value>"),
                    _ => None,
                }
                .map(|tag| {
                    let begun = (0..tag.len()).rev().find(|&length| said.ends_with(&tag[..length]));
                    tag.as_bytes()[begun.unwrap_or(0)]
                });
                let mut logits: Vec<f32> = (0..tokenizer.vocab_size() as u32)
                    .map(|id| {
                        let pull = match tokenizer.token_bytes(id) {
                            Some(&[byte]) if next == Some(byte) => 40.0,
                            Some(b"\"" | b"}" | b"]") => 20.0,
                            _ => 0.0,
                        };
                        numbers.uniform() * 5.0 + if late { pull } else { 0.0 }
                    })
                    .collect();
                logits[end as usize] = if late { 60.0 } else { 0.0 };
                let token = sampler.sample(&mut logits, Some(constraint.mask().unwrap())).unwrap();
                constraint.accept(token).unwrap();
                ids.extend((token != end).then_some(token));
                assert!(ids.len() < 2000, "no end: {}", tokenizer.decode(&ids, false).unwrap());
            }
            let answer = tokenizer.decode(&ids, false).unwrap();
            for event in events(format, &[&answer]) {
                match event {
                    ToolEvent::Text(text) if text.trim().is_empty() => {}
                    ToolEvent::Call(call) => {
                        let tool = tools.iter().find(|tool| tool.name == call.name).unwrap();
                        let arguments = Value::Object(call.arguments);
                        if let Err(error) = jsonschema::validate(&tool.parameters, &arguments) {
                            panic!("{format:?}: {error}: {answer}");
                        }
                        named.insert((format!("{format:?}"), call.name));
                    }
                    other => panic!("{format:?}: {other:?} in {answer}"),
                }
            }
        }
    }
    assert_eq!(named.len(), 2 * FORMATS.len(), "both tools in each format: {named:?}");
    assert!(matches!(ToolFormat::Hermes.grammar(&[], &tokenizer), Err(Error::Options(_))));
    let strange = ToolSignature { name: "a\"b".into(), parameters: json!({}) };
    assert!(ToolFormat::Hermes.grammar(&[strange], &tokenizer).is_err());
}
