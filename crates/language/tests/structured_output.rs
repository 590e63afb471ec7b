//! Structured output: whatever the logits are, the answer is of the grammar.
#![allow(missing_docs)]

mod common;

use common::{Numbers, byte_level, sentence_piece};
use nearside_language::{Constraint, Error, Grammar, GrammarCompiler, Sampler, SamplingOptions, Tokenizer};
use serde_json::{Map, Value, json};

/// What the logits are like, before it is time to close.
#[derive(Clone, Copy, Debug)]
enum Mood {
    Random,
    HatesClosing,
    LovesSpaces,
}

/// How much a token helps to bring JSON to its end.
fn closing(bytes: &[u8]) -> f32 {
    let of_byte = |&byte: &u8| match byte {
        b'}' | b']' => 8.0,
        b'"' => 6.0,
        b'0'..=b'9' => -2.0,
        b'a'..=b'z' => 0.5,
        b':' | b'-' => 0.0,
        b',' => -1.0,
        b'{' | b'[' => -6.0,
        b' ' | b'\n' | b'\t' | b'\r' | b'\\' => -12.0,
        _ => -1.0,
    };
    bytes.iter().map(of_byte).sum::<f32>() / bytes.len().max(1) as f32
}

struct Generator<'a> {
    tokenizer: &'a Tokenizer,
    end: u32,
    closing: Vec<f32>,
    numbers: Numbers,
}

impl<'a> Generator<'a> {
    fn new(tokenizer: &'a Tokenizer, end: u32) -> Self {
        let ids = 0..tokenizer.vocab_size() as u32;
        let closing = ids.map(|id| closing(tokenizer.token_bytes(id).unwrap_or_default())).collect();
        Self { tokenizer, end, closing, numbers: Numbers(1) }
    }

    /// Random tokens under the mask, until the answer is complete; after `free` of them the logits favour closing.
    fn answer(&mut self, mut constraint: Constraint, mood: Mood, free: usize) -> String {
        let options =
            SamplingOptions { seed: Some(self.numbers.below(1 << 30) as u64), ..Default::default() };
        let mut sampler = Sampler::new(&options, self.tokenizer.vocab_size()).unwrap();
        let mut ids = Vec::new();
        while !constraint.is_complete() {
            assert!(ids.len() < 3000, "no end: {:?}", self.tokenizer.decode(&ids, true));
            let late = ids.len() >= free;
            let mut logits: Vec<f32> = self
                .closing
                .iter()
                .map(|&closing| {
                    let pull = match mood {
                        _ if late => 3.0 * closing,
                        Mood::Random => 0.0,
                        Mood::HatesClosing => -4.0 * closing.max(0.0),
                        Mood::LovesSpaces => -2.0 * closing.min(0.0),
                    };
                    self.numbers.uniform() * 6.0 + pull
                })
                .collect();
            logits[self.end as usize] = if late { 60.0 } else { 0.0 };
            let token = sampler.sample(&mut logits, Some(constraint.mask().unwrap())).unwrap();
            constraint.accept(token).unwrap();
            if token != self.end {
                ids.push(token);
            }
        }
        self.tokenizer.decode(&ids, true).unwrap()
    }
}

/// A random schema, of `depth` levels at most; `$ref`s to `leaf` and `tree` where `definitions`.
fn schema(numbers: &mut Numbers, depth: usize) -> Value {
    match numbers.below(if depth == 0 { 8 } else { 13 }) {
        0 => {
            let least = numbers.below(200) as i64 - 100;
            json!({"type": "integer", "minimum": least, "maximum": least + numbers.below(1000) as i64})
        }
        1 => {
            let least = numbers.below(100) as f64 / 4.0;
            let bound = if numbers.chance(50) { "exclusiveMinimum" } else { "minimum" };
            json!({"type": "number", bound: least, "maximum": least + 1.0 + numbers.below(50) as f64})
        }
        2 => {
            let least = numbers.below(5);
            json!({"type": "string", "minLength": least, "maxLength": least + numbers.below(10)})
        }
        3 => {
            let patterns =
                ["^[a-z]{2,8}$", "^\\d{3}-\\d{4}$", "^(red|green|blue)!?$", "^[A-Z][a-z]+( [A-Z][a-z]+)?$"];
            json!({"type": "string", "pattern": patterns[numbers.below(4)]})
        }
        4 => json!({"enum": ["one", 2, null, "drei", true, 4.5]}),
        5 => json!({"type": ["boolean", "null"]}),
        6 => json!({"const": {"fixed": [1, "two"]}}),
        7 => json!({"$ref": "#/$defs/leaf"}),
        8 => {
            let least = numbers.below(3);
            json!({"type": "array", "items": schema(numbers, depth - 1), "minItems": least,
                "maxItems": least + numbers.below(4)})
        }
        9 => {
            let items: Vec<Value> = (0..1 + numbers.below(3)).map(|_| schema(numbers, depth - 1)).collect();
            json!({"type": "array", "prefixItems": items, "items": false, "minItems": items.len()})
        }
        10 => {
            let options: Vec<Value> = (0..2 + numbers.below(2)).map(|_| schema(numbers, depth - 1)).collect();
            json!({"anyOf": options})
        }
        11 => json!({"$ref": "#/$defs/tree"}),
        _ => object(numbers, depth),
    }
}

fn object(numbers: &mut Numbers, depth: usize) -> Value {
    let names = ["name", "value", "größe", "a \"quoted\" one", "x", "items"];
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in names.iter().take(1 + numbers.below(names.len())) {
        properties.insert((*name).into(), schema(numbers, depth.saturating_sub(1)));
        if numbers.chance(60) {
            required.push(*name);
        }
    }
    let additional = if numbers.chance(80) { json!(false) } else { json!({"type": "integer"}) };
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": additional})
}

fn whole_schema(numbers: &mut Numbers) -> Value {
    let mut schema = if numbers.chance(70) { object(numbers, 3) } else { schema(numbers, 3) };
    schema["$defs"] = json!({
        "leaf": schema_of_leaf(numbers),
        "tree": {"type": "object", "properties": {
            "left": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
            "value": {"$ref": "#/$defs/leaf"}},
            "required": ["value"], "additionalProperties": false},
    });
    schema
}

fn schema_of_leaf(numbers: &mut Numbers) -> Value {
    let leaf = schema(numbers, 0);
    if leaf["$ref"].is_null() { leaf } else { json!({"type": "integer", "minimum": 0}) }
}

#[test]
fn every_answer_to_a_hundred_random_schemas_is_valid() {
    let tokenizer = byte_level();
    let end = tokenizer.id_of("<|im_end|>").unwrap();
    let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
    let mut generator = Generator::new(&tokenizer, end);
    let mut numbers = Numbers(2024);
    let mut answers = 0;
    for _ in 0..100 {
        let schema = whole_schema(&mut numbers);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let constraint = compiler
            .compile(&Grammar::JsonSchema(schema.clone()))
            .unwrap_or_else(|error| panic!("{error}: {schema:#}"));
        for (mood, free) in
            [(Mood::Random, 5), (Mood::Random, 40), (Mood::HatesClosing, 60), (Mood::LovesSpaces, 80)]
        {
            let text = generator.answer(constraint.clone(), mood, free);
            let value: Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}\n{schema:#}"));
            if let Err(error) = validator.validate(&value) {
                panic!("{mood:?}: {error}: {text}\n{schema:#}");
            }
            answers += 1;
        }
    }
    assert_eq!(answers, 400);
}

#[test]
fn tokenizers_of_all_kinds_can_be_held_to_a_grammar() {
    let schema = json!({"type": "object", "properties": {"ü": {"type": "string"}, "n": {"type": "number"}}, "required": ["ü"]});
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (tokenizer, end) in
        [(byte_level(), "<|im_end|>"), (sentence_piece(true), "</s>"), (sentence_piece(false), "</s>")]
    {
        let end = tokenizer.id_of(end).unwrap();
        let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
        let mut generator = Generator::new(&tokenizer, end);
        for _ in 0..20 {
            let constraint = compiler.compile(&Grammar::JsonSchema(schema.clone())).unwrap();
            let text = generator.answer(constraint, Mood::Random, 30);
            assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()), "{text}");
        }
    }
}

#[test]
fn regular_expressions_and_grammars_hold_too() {
    let tokenizer = byte_level();
    let end = tokenizer.id_of("<|im_end|>").unwrap();
    let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
    let mut generator = Generator::new(&tokenizer, end);
    let lark = "start: call+\ncall: NAME \"(\" NUMBER (\",\" NUMBER)* \")\"\nNAME: /[a-z]{1,5}/\nNUMBER: /[0-9]{1,3}/\n";
    for _ in 0..20 {
        let regex = compiler.compile(&Grammar::Regex("[ab]{3}(é|日本)?-[0-9]+".into())).unwrap();
        let text = generator.answer(regex, Mood::Random, 20);
        let rest = text.trim_start_matches(['a', 'b']);
        assert_eq!(text.len() - rest.len(), 3, "{text}");
        let digits = rest.trim_start_matches("日本").trim_start_matches('é').strip_prefix('-').unwrap();
        assert!(!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()), "{text}");

        let grammar = compiler.compile(&Grammar::Lark(lark.into())).unwrap();
        let text = generator.answer(grammar, Mood::Random, 20);
        for call in text.strip_suffix(')').unwrap().split(')') {
            let (name, numbers) = call.split_once('(').unwrap();
            assert!((1..=5).contains(&name.len()), "{text}");
            assert!(numbers.split(',').all(|number| number.parse::<u16>().is_ok()), "{text}");
        }
    }
}

#[test]
fn the_end_comes_only_where_the_grammar_lets_it_and_then_only_the_end() {
    let tokenizer = byte_level();
    let ends = ["<|im_end|>", "[TOOL_CALLS]"].map(|end| tokenizer.id_of(end).unwrap());
    let compiler = GrammarCompiler::new(&tokenizer, &ends).unwrap();
    let mut constraint = compiler.compile(&Grammar::Regex("ab(cd)?".into())).unwrap();
    let id = |text: &str| {
        (0..tokenizer.vocab_size() as u32)
            .find(|&id| tokenizer.token_bytes(id) == Some(text.as_bytes()))
            .unwrap()
    };
    let allowed = |constraint: &mut Constraint| {
        let mask = constraint.mask().unwrap();
        mask.tokens().map(|token| tokenizer.decode(&[token], false).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(allowed(&mut constraint), ["a", "ab", "abc"]);
    assert!(!constraint.can_end().unwrap());
    assert!(matches!(constraint.accept(id("b")), Err(Error::NotInGrammar { .. })));
    assert!(matches!(constraint.accept(ends[0]), Err(Error::NotInGrammar { .. })));
    constraint.accept(id("ab")).unwrap();
    assert!(constraint.can_end().unwrap() && !constraint.is_complete());
    assert_eq!(allowed(&mut constraint), ["c", "<|im_end|>", "[TOOL_CALLS]"]);

    let mut ended = constraint.clone();
    ended.accept(ends[1]).unwrap();
    assert!(ended.is_complete());

    constraint.accept(id("c")).unwrap();
    assert_eq!(allowed(&mut constraint), ["d"]);
    constraint.accept(id("d")).unwrap();
    assert!(constraint.is_complete());
    assert_eq!(allowed(&mut constraint), ["<|im_end|>", "[TOOL_CALLS]"]);
    constraint.accept(ends[0]).unwrap();
    assert!(matches!(constraint.accept(id("d")), Err(Error::NotInGrammar { .. })));
}

#[test]
fn special_tokens_are_not_text_that_a_grammar_could_mean() {
    let tokenizer = byte_level();
    let end = tokenizer.id_of("<|im_end|>").unwrap();
    let compiler = GrammarCompiler::new(&tokenizer, &[end]).unwrap();
    let mut constraint = compiler.compile(&Grammar::Regex("[^x]*".into())).unwrap();
    let mask = constraint.mask().unwrap();
    assert!(!mask.allows(tokenizer.id_of("<|im_start|>").unwrap()));
    assert!(mask.allows(tokenizer.id_of("<tool_call>").unwrap()), "that one is plain text");
}

#[test]
fn grammars_that_make_no_sense_are_refused_with_the_reason() {
    let tokenizer = byte_level();
    let compiler = GrammarCompiler::new(&tokenizer, &[tokenizer.id_of("<|im_end|>").unwrap()]).unwrap();
    let mut deep = json!(1);
    for _ in 0..300 {
        deep = json!([deep]);
    }
    let cases = [
        (Grammar::Regex("a(b".into()), "regex"),
        (Grammar::Lark("start: missing_rule".into()), "missing_rule"),
        (Grammar::Lark("start: (".into()), ""),
        (Grammar::JsonSchema(json!({"type": "spoon"})), "spoon"),
        (Grammar::JsonSchema(json!({"$ref": "#/$defs/none"})), "none"),
        (Grammar::JsonSchema(json!({"$ref": "https://example.com/x.json"})), ""),
        (Grammar::JsonSchema(json!({"type": "integer", "minimum": 5, "maximum": 4})), "minimum"),
        (Grammar::JsonSchema(json!({"not": {"type": "string"}})), "not"),
        (Grammar::JsonSchema(deep), "levels deep"),
        (Grammar::Regex("(".repeat(100_000)), "levels deep"),
        (Grammar::Lark(format!("start: {}\"a\"{}", "(".repeat(5000), ")".repeat(5000))), "levels deep"),
        (Grammar::Regex("a".repeat(1 << 20)), "bytes"),
    ];
    for (grammar, reason) in cases {
        let error = compiler.compile(&grammar).unwrap_err();
        assert!(matches!(error, Error::Grammar { .. }), "{error}");
        assert!(error.to_string().contains(reason) && !error.to_string().contains("backtrace"), "{error}");
    }
    assert!(matches!(GrammarCompiler::new(&tokenizer, &[]), Err(Error::Options(_))));
    assert!(matches!(GrammarCompiler::new(&tokenizer, &[1 << 30]), Err(Error::NoSuchToken { .. })));
}

#[test]
fn hostile_grammars_end_in_bounded_time() {
    let tokenizer = byte_level();
    let compiler = GrammarCompiler::new(&tokenizer, &[tokenizer.id_of("<|im_end|>").unwrap()]).unwrap();
    let chain = |length: usize| -> Map<String, Value> {
        (0..length)
            .map(|at| (format!("d{at}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", at + 1)}]})))
            .chain([(format!("d{length}"), json!({"type": "null"}))])
            .collect()
    };
    let doubling: Map<String, Value> = (0..40)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({"allOf": [{"anyOf": [next, next]}, {"anyOf": [next, next]}]}))
        })
        .chain([("d40".to_owned(), json!({"type": "null"}))])
        .collect();
    let cases = [
        Grammar::Regex("((((a{1,1000}){1,1000}){1,1000}){1,1000})".into()),
        Grammar::Regex("(a|b)*a(a|b){5000}".into()),
        Grammar::Regex("(.{0,1000}x){1000}".into()),
        Grammar::Lark("start: start start | start start start | \"a\" |".into()),
        Grammar::JsonSchema(json!({"type": "string", "minLength": 1_000_000, "maxLength": 1_000_000_000})),
        Grammar::JsonSchema(json!({"type": "array", "minItems": 1_000_000_000})),
        Grammar::JsonSchema(json!({"type": "string", "pattern": "^(([a-z]{1,100}){1,100}){1,100}$"})),
        Grammar::JsonSchema(json!({"$ref": "#/$defs/d0", "$defs": chain(4000)})),
        Grammar::JsonSchema(json!({"$ref": "#/$defs/d0", "$defs": chain(990)})),
        Grammar::JsonSchema(json!({"$ref": "#/$defs/d0", "$defs": doubling})),
    ];
    for grammar in cases {
        let start = std::time::Instant::now();
        let name = format!("{grammar:?}").chars().take(70).collect::<String>();
        let outcome = compiler.compile(&grammar).map(|mut constraint| {
            (0..20).try_for_each(|_| {
                let token = constraint.mask()?.tokens().last();
                token.map_or(Ok(()), |token| constraint.accept(token))
            })
        });
        let took = start.elapsed();
        println!("{name}: {took:?}, {outcome:?}");
        assert!(took.as_secs() < 20, "{name} took {took:?}");
    }
}

#[test]
fn constraints_can_go_to_another_thread() {
    fn can<T: Send>() {}
    can::<Constraint>();
    can::<GrammarCompiler>();
}
