//! Chat templates against what transformers makes of them (`templates/make.py`).

use nearside_language::{ChatTemplate, Error, Message, RenderOptions, SpecialTokens, Tool};
use serde_json::Value;

fn cases() -> Value {
    let file = std::env::var("NEARSIDE_TEMPLATE_CASES")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/templates/cases.json").to_owned());
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn template(case: &Value) -> ChatTemplate {
    let special = |name: &str| case["specials"][name].as_str().map(str::to_owned);
    let specials =
        SpecialTokens { bos: special("bos_token"), eos: special("eos_token"), ..Default::default() };
    ChatTemplate::new(case["source"].as_str().unwrap(), specials).unwrap()
}

fn render(source: &str) -> Result<String, Error> {
    ChatTemplate::new(source, SpecialTokens::default())?.render(
        &[Message::user("a")],
        &[],
        &RenderOptions::default(),
    )
}

#[test]
fn a_template_that_never_ends_or_fills_the_memory_is_stopped() {
    let hostile = [
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set ns = namespace(x='ab') %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=['ab']) %}{% for a in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=['ab']) %}{% for a in range(30) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
        "{% set ns = namespace(x=['ab']) %}{% for a in range(30) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{{ 'a' * 10000000000 }}",
        "{{ 'a'.replace('', 'b' * 1000000) * 100000 }}",
        "{% set ns = namespace(x=[]) %}{% for a in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=[]) %}{% for a in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x == ns.x }}{{ ns.x | string }}",
    ];
    for source in hostile {
        let start = std::time::Instant::now();
        assert!(matches!(render(source), Err(Error::Template { .. })), "{source}");
        assert!(start.elapsed().as_secs() < 20, "{source}");
    }
}

#[test]
fn a_damaged_template_is_refused_with_the_line() {
    let error = ChatTemplate::new("a\n{% if %}", SpecialTokens::default()).unwrap_err();
    assert!(error.to_string().contains("chat_template:2"), "{error}");
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(ChatTemplate::new(&format!("{{{{ {deep} }}}}"), SpecialTokens::default()).is_err());
}

#[test]
fn what_a_template_says_when_it_refuses_messages_is_told() {
    let refused = render("{{ raise_exception('not ' ~ messages[0].content) }}").unwrap_err();
    assert!(matches!(&refused, Error::TemplateRefuses { message } if message == "not a"), "{refused}");
}

#[test]
fn dates_are_written_as_python_does_and_wrong_formats_are_errors() {
    let source = "{{ strftime_now('%d %b %Y %H:%M:%S.%f %% %A%Z') }}";
    let now = "2026-02-03T04:05:06.789".parse().unwrap();
    let options = RenderOptions { now: Some(now), ..Default::default() };
    let template = ChatTemplate::new(source, SpecialTokens::default()).unwrap();
    let text = template.render(&[], &[], &options).unwrap();
    assert_eq!(text, "03 Feb 2026 04:05:06.789000 % Tuesday");
    assert!(matches!(render("{{ strftime_now('%Q') }}"), Err(Error::Template { .. })));
}

#[test]
fn every_template_renders_every_conversation_as_transformers_does() {
    let cases = cases();
    let now = cases["now"].as_str().unwrap().parse().unwrap();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, case) in cases["templates"].as_object().unwrap() {
        let template = template(case);
        for (conversation, messages) in cases["conversations"].as_object().unwrap() {
            let messages: Vec<Message> = serde_json::from_value(messages.clone()).unwrap();
            for (setting, options) in cases["settings"].as_object().unwrap() {
                let tools: Vec<Tool> = match options.get("tools") {
                    Some(tools) => serde_json::from_value(tools.clone()).unwrap(),
                    None => Vec::new(),
                };
                let variables = options.get("variables").and_then(Value::as_object).cloned();
                let options = RenderOptions {
                    add_generation_prompt: options["add_generation_prompt"] == true,
                    now: Some(now),
                    variables: variables.unwrap_or_default(),
                };
                let expected = &case["expected"][format!("{conversation}/{setting}")];
                let found = template.render(&messages, &tools, &options);
                let same = match &found {
                    Ok(text) => expected["text"].as_str() == Some(text),
                    Err(Error::TemplateRefuses { message }) => expected["refused"].as_str() == Some(message),
                    Err(_) => expected.get("failed").is_some(),
                };
                compared += 1;
                if !same {
                    wrong.push(format!("{name}, {conversation}/{setting}:\n{expected}\n{found:?}"));
                }
            }
        }
    }
    assert!(compared >= 200, "only {compared} were compared");
    let shown = wrong.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{shown}", wrong.len());
}
