//! JSON schemas and Lark grammars: every text is inside its grammar, and has the same bits however it is
//! computed.

#![cfg(feature = "flex")]

mod common;
#[path = "common/foreign_words.rs"]
mod foreign_words;

use std::time::Instant;

use common::constrained::{assert_same_bits, options};
use common::texts::alone;
use common::{bundled, device};
use foreign_words::assert_in_words;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use slowburn::constrained::{Constraint, Vocabulary};
use slowburn::generate::FinishReason;
use slowburn::grammar::{Grammar, Schema};
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams};
use slowburn::{Error, RequestError};

fn schema(json: Value) -> Grammar {
    Grammar::JsonSchema(Schema::from(json))
}

fn animal() -> Grammar {
    schema(json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"},
            "kind": {"enum": ["cat", "dog", "fox"]},
            "age": {"type": "integer", "minimum": 0, "maximum": 20},
            "friends": {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
        },
        "required": ["name", "kind", "age"],
        "additionalProperties": false,
    }))
}

/// Brackets that nest: no regular expression matches these texts and no others.
const NESTED: &str = r#"
start: "(" start* ")" | WORD
WORD: /[a-z]{1,4}/
"#;

fn text(vocabulary: &Vocabulary, ids: &[u32]) -> String {
    let bytes = ids.iter().flat_map(|&id| vocabulary.bytes(id)).copied().collect();
    String::from_utf8(bytes).unwrap()
}

/// A text of tokens that are drawn from all that are allowed: what no model would write, too. None if
/// it does not end, or takes too much work.
fn random(constraint: &Constraint, seed: u64, steps: usize) -> Option<Vec<u32>> {
    let vocabulary = constraint.vocabulary();
    let params = SamplingParams { seed, ..SamplingParams::default() };
    let mut sampler = Sampler::new(&params).unwrap().with_constraint(constraint);
    let mut output = Vec::new();
    for _ in 0..steps {
        let follower = sampler.constraint().unwrap();
        if follower.next(&output).ok()?.is_complete() {
            return Some(output);
        }
        let token = sampler.sample(&vec![0.0; vocabulary.size()], &[], &output).unwrap();
        if vocabulary.end_ids().contains(&token) {
            return Some(output);
        }
        output.push(token);
    }
    None
}

fn problem(grammar: &Grammar, pretrained: &Pretrained) -> String {
    match pretrained.constraint(grammar) {
        Err(Error::Request(RequestError::Grammar { problem, .. })) => problem,
        other => panic!("{grammar:?}: {other:?}"),
    }
}

#[test]
fn an_object_has_the_fields_of_its_schema_in_their_order() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&animal()).unwrap();
    let prompt = pretrained.prompt_ids("There was a fox called Mira. ").unwrap();
    for seed in 0..4 {
        let found = alone(&pretrained.model, &prompt, &options(&constraint, 80, 1.0, seed));
        let text = pretrained.tokenizer.decode(&found.ids).unwrap();
        match found.finish_reason {
            FinishReason::Eos => {
                let animal: Value = serde_json::from_str(&text).unwrap();
                let names: Vec<_> = animal.as_object().unwrap().keys().collect();
                assert_eq!(names[..3], ["name", "kind", "age"], "{text}");
                assert!((0..=20).contains(&animal["age"].as_i64().unwrap()), "{text}");
            }
            FinishReason::Length => assert!(text.starts_with('{'), "{text}"),
            reason => panic!("{reason:?}"),
        }
    }
    // The same fields in another order are another grammar.
    let ordered = |names: [&str; 2]| {
        let required = json!(names);
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({"const": 1}))).collect();
        let grammar = schema(json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        }));
        let constraint = pretrained.constraint(&grammar).unwrap();
        let text = text(constraint.vocabulary(), &random(&constraint, 0, 100).unwrap());
        text.split_whitespace().collect::<String>()
    };
    assert_eq!(ordered(["a", "b"]), r#"{"a":1,"b":1}"#);
    assert_eq!(ordered(["b", "a"]), r#"{"b":1,"a":1}"#);
}

#[test]
fn a_constrained_text_has_the_bits_that_it_has_alone_in_a_batch_speculated_and_preempted() {
    let grammars = [
        animal(),
        Grammar::Lark(NESTED.to_owned()),
        schema(json!({"type": "object"})),
        schema(
            json!({"type": "array", "items": {"enum": ["forty winks", "a long way"]}, "minItems": 4}),
        ),
    ];
    // Three blocks more than the longest sequence needs.
    assert_same_bits(&grammars, 80, 7);
}

/// A follower that was asked for other texts before answers as a new one.
#[test]
fn what_may_come_next_depends_on_the_text_alone() {
    let pretrained = bundled(&device());
    for grammar in [animal(), Grammar::Lark(NESTED.to_owned())] {
        let constraint = pretrained.constraint(&grammar).unwrap();
        let texts: Vec<Vec<u32>> =
            (0..6).filter_map(|seed| random(&constraint, seed, 200)).take(3).collect();
        let follower = constraint.follow();
        let mut asked = 0;
        for text in texts.iter().chain(&texts) {
            // Forwards, backwards, and ahead of itself.
            for length in (0..=text.len()).chain((0..text.len()).rev()) {
                let output = &text[..length];
                let forced = follower.forced(output, 4).unwrap();
                let found = follower.next(output).unwrap();
                let expected = constraint.follow().next(output).unwrap();
                assert_eq!(found.mask(), expected.mask());
                assert_eq!(found.is_complete(), expected.is_complete());
                let mut ahead = output.to_vec();
                for token in forced {
                    assert_eq!(
                        constraint.follow().next(&ahead).unwrap().mask().only(),
                        Some(token)
                    );
                    ahead.push(token);
                }
                asked += 1;
            }
        }
        assert!(asked > 20, "{asked}");
        // What fails leaves no trace.
        let outside = follower.next(&[texts[0][0], u32::MAX]);
        assert!(matches!(outside, Err(Error::Request(_))), "{outside:?}");
        let again = follower.next(&texts[0]).unwrap();
        assert_eq!(again.mask(), constraint.follow().next(&texts[0]).unwrap().mask());
    }
}

#[test]
fn brackets_nest_as_deep_as_they_like_and_all_are_closed() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&Grammar::Lark(NESTED.to_owned())).unwrap();
    assert!(constraint.automaton().is_none());
    let (end_ids, follower) = (constraint.vocabulary().end_ids(), constraint.follow());
    for depth in 1..20 {
        let text = format!("{}fox{}", "(".repeat(depth), ")".repeat(depth));
        let ids = pretrained.tokenizer.encode_bare(&text).unwrap();
        for length in 0..=ids.len() {
            let next = follower.next(&ids[..length]).unwrap();
            assert!(ids.get(length).is_none_or(|id| next.mask().contains(*id)), "{text}");
            let may_end = end_ids.iter().any(|&id| next.mask().contains(id));
            assert_eq!(may_end, length == ids.len(), "{text}");
        }
        assert!(follower.next(&ids).unwrap().is_complete());
    }
}

#[test]
fn white_space_does_not_go_on_for_ever() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&schema(json!({"type": "object"}))).unwrap();
    let space = |text: &str| pretrained.tokenizer.encode_bare(text).unwrap();
    let open = space("{");
    let follower = constraint.follow();
    let bytes = |ids: &[u32]| text(constraint.vocabulary(), ids);
    assert_eq!(bytes(&open), "{");
    let next = |output: &[u32]| -> Vec<String> {
        let mask = follower.next(output).unwrap();
        mask.mask()
            .ids()
            .filter(|id| !constraint.vocabulary().bytes(*id).is_empty())
            .map(|id| String::from_utf8_lossy(constraint.vocabulary().bytes(id)).into_owned())
            .collect()
    };
    assert!(next(&open).iter().any(|token| token == " "));
    let spaced = [open, space(" ")].concat();
    assert_eq!(bytes(&spaced), "{ ");
    let behind = next(&spaced);
    assert!(
        !behind.is_empty() && behind.iter().all(|token| !token.starts_with(char::is_whitespace))
    );
}

#[test]
fn an_error_names_its_place_in_the_schema() {
    let pretrained = bundled(&device());
    let nested = |part: Value| {
        schema(json!({
            "type": "object",
            "properties": {"a/b": {"type": "array", "items": {"anyOf": [{"type": "null"}, part]}}},
        }))
    };
    for (part, expected) in [
        (json!({"if": {}}), "#/properties/a~1b/items/anyOf/1: `if` cannot be kept to"),
        (
            json!({"type": "strange"}),
            "#/properties/a~1b/items/anyOf/1: `type` is \"strange\", but must be one of",
        ),
        (
            json!({"type": "string", "pattern": "("}),
            "#/properties/a~1b/items/anyOf/1: a `(` has no `)`",
        ),
        (json!(3), "#/properties/a~1b/items/anyOf/1: a schema must be"),
    ] {
        let found = problem(&nested(part), &pretrained);
        assert!(found.starts_with(expected), "{found}");
    }
    let referred = schema(json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/b"}},
        "$defs": {"c": {"type": "null"}, "b": {"not": {}}},
    }));
    let found = problem(&referred, &pretrained);
    assert!(found.starts_with("#/$defs/b: `not` cannot be kept to"), "{found}");
    for (wrong, expected) in [
        (json!([]), "#: a schema must be an object, true or false"),
        (json!(false), "#: nothing satisfies"),
        (json!({"type": "integer", "minimum": 3, "maximum": 2}), "#: "),
    ] {
        let found = problem(&schema(wrong), &pretrained);
        assert!(found.starts_with(expected), "{found}");
    }
    let found = problem(&Grammar::Lark("start: a\nb: \"x\"".to_owned()), &pretrained);
    assert!(
        found.contains("line 1, column 8: it uses \"a\", which is nowhere defined"),
        "{found}"
    );
}

/// The crates that read grammars speak of their own parts, and of Rust.
#[test]
fn every_problem_of_a_grammar_is_in_words() {
    let pretrained = bundled(&device());
    let lark = |text: &str| Grammar::Lark(text.to_owned());
    let object = |more: Value| {
        let mut object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    let schemas = [
        json!(3),
        json!(false),
        json!({"anyOf": []}),
        json!({"oneOf": []}),
        json!({"enum": []}),
        json!({"enum": 3}),
        json!({"allOf": 3}),
        json!({"anyOf": {}}),
        json!({"oneOf": {}}),
        json!({"anyOf": [false, false]}),
        json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
        json!({"not": {}}),
        json!({"if": {}, "then": {}}),
        json!({"dependentRequired": {}, "type": "object"}),
        json!({"type": "array", "contains": {}}),
        json!({"type": "array", "uniqueItems": true}),
        json!({"$ref": 3}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "other.json#/a"}),
        json!({"$schema": "https://example.com/draft", "type": "null"}),
        json!({"$defs": {"a": {"$ref": "#/$defs/a", "type": "object"}}, "$ref": "#/$defs/a"}),
        json!({"type": "strange"}),
        json!({"type": 3}),
        json!({"type": ["null", 3]}),
        json!({"type": "integer", "minimum": "x"}),
        json!({"type": "integer", "minimum": 3, "maximum": 2}),
        json!({"type": "number", "exclusiveMinimum": 3, "maximum": 3}),
        json!({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}),
        json!({"type": "number", "minimum": 0.1, "maximum": 0.2, "multipleOf": 0.5}),
        json!({"type": "number", "multipleOf": -1}),
        json!({"type": "number", "multipleOf": 1e-30}),
        json!({"type": "number", "multipleOf": "x"}),
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "string", "minLength": -1}),
        json!({"type": "string", "maxLength": "x"}),
        json!({"type": "string", "minLength": 1_u64 << 40}),
        json!({"type": "string", "pattern": 3}),
        json!({"type": "string", "pattern": "("}),
        json!({"type": "string", "pattern": "a{99999999999}"}),
        json!({"type": "string", "pattern": "(?=a)b"}),
        json!({"type": "string", "pattern": "a\\bc"}),
        json!({"type": "string", "pattern": "^a$", "minLength": 2}),
        json!({"type": "string", "pattern": "^a$", "format": "date"}),
        json!({"type": "string", "format": "strange"}),
        json!({"type": "string", "format": 3}),
        json!({"const": "abc", "maxLength": 2, "type": "string"}),
        json!({"const": 3, "type": "string"}),
        json!({"const": true, "enum": [false]}),
        json!({"type": "array", "items": 3}),
        json!({"type": "array", "prefixItems": 3}),
        json!({"type": "array", "minItems": 3, "maxItems": 2}),
        json!({"type": "array", "minItems": 1, "items": false}),
        json!({"type": "array", "minItems": 1, "prefixItems": [false]}),
        json!({"type": "array", "minItems": "x"}),
        json!({"type": "object", "properties": 3}),
        json!({"type": "object", "properties": {"a": 3}}),
        json!({"type": "object", "patternProperties": {"(": {}}}),
        json!({"type": "object", "patternProperties": {"a": {}, "b": {}}}),
        object(json!({"required": 3})),
        object(json!({"required": [3]})),
        object(json!({"minProperties": 3, "maxProperties": 2})),
        object(json!({"minProperties": 7, "additionalProperties": false})),
        object(json!({"required": ["a"], "properties": {"a": false}})),
        object(json!({"required": ["a", "b"], "maxProperties": 1})),
        object(json!({"minProperties": 1})),
        object(json!({"properties": {"a": {}, "b": {}}, "required": ["a"], "maxProperties": 1})),
    ];
    let larks = [
        "",
        "start",
        "start:",
        "start: x",
        "start: X",
        "a: \"b\"",
        "root ::= \"yes\" | \"no\"",
        "start: \"a",
        "start: 'a'",
        "start: \"a\" !",
        "start: $",
        "start: (\"a\"",
        "start: \"a\")",
        "start: [\"a\"",
        "start: \"a\"{2",
        "start: \"a\"{3,2}",
        "start: \"a\"{99999999999}",
        "start: \"a\"{1,0}",
        "start: \"a\"+*",
        "start: \"ab\"..\"c\"",
        "start: A\nA: \"z\"..\"a\"",
        "start: \"a\" & \"b\"",
        "start: A\nA: A \"x\"",
        "start: A\nA: b\nb: \"x\"",
        "start: A\nA: %json {}",
        "start: A\nA: \"x\"\nA: \"y\"",
        "start: \"x\"\nstart: \"y\"",
        "start: /(/",
        "start: /a{99999999999}/",
        "start: /a(?=b)/",
        "start: /\\bx/",
        "start: /[z-a]/",
        "start: /\\p{Nope}/",
        "start: /a/l",
        "start: /a\nb/",
        "start: <|x|>",
        "start: <[1-x]>",
        "start: <[99999999]>",
        "start: <[5-3]>",
        "start: @other",
        "start: @7",
        "start: %json",
        "start: %json {",
        "start: %json {\"type\": \"strange\"}",
        "start: %json {\"type\": }",
        "start: %json {\"not\": {}}",
        "start: %regex {}",
        "start: %regex {",
        "start: %regex {\"strange\": 1}",
        "start: %lark { start: \"a\" ",
        "%declare A\nstart: A",
        "%import common.STRANGE\nstart: STRANGE",
        "%override start: \"a\"",
        "%ignore x\nstart: \"a\"",
        "%llguidance {\nstart: \"a\"",
        "%llguidance {\"strange\": 1}\nstart: \"a\"",
        "%strange\nstart: \"a\"",
        "start[max_tokens=5]: a\na: \"x\" a | \"y\"",
        "start[strange=5]: \"x\"",
        "start[stop=\"a\", suffix=\"b\"]: /x/",
        "start[max_tokens=x]: \"x\"",
        "start.5: \"a\"",
        "start{x}: x",
        "start: a{\"x\"}\na{y}: y",
        "start: a::0x0\na: \"x\"",
        "start: a\na::_: \"x\"",
        "start: \"a\" %if strange(_)",
    ];
    let regexes = [
        "(",
        ")",
        "[",
        "[z-a]",
        "a{",
        "a{x}",
        "a{2,1}",
        "a{99999999999}",
        "*a",
        "a**{",
        "\\",
        "\\8",
        "\\y",
        "\\x",
        "\\xg",
        "\\x{110000}",
        "\\x{}",
        "\\p",
        "\\p{Nope}",
        "\\p{sc=Nope}",
        "(?",
        "(?z)",
        "(?i-)",
        "(?ii)",
        "(?P<>a)",
        "(?P<a",
        "(?P<a>b)(?P<a>c)",
        "(?P<1>a)",
        "(?=a)",
        "(?<!a)b",
        "\\1",
        "\\b",
        "a\\bb",
        "\\b{x}",
        "\\b{start",
        "[\\d-z]",
        "[a-\\d]",
        "[\\b]",
        "(?-u)é",
        "(?-u:\\xff)",
        "(?R)a",
        "a|(b",
        "a\nb(",
    ];
    let all = schemas.into_iter().map(schema);
    let all = all.chain(larks.map(lark)).chain(regexes.map(|text| Grammar::Regex(text.to_owned())));
    let mut messages = Vec::new();
    for grammar in all {
        let Err(error) = pretrained.constraint(&grammar) else {
            continue;
        };
        let message = error.to_string();
        assert!(!message.contains("not supported here (\""), "{grammar:?}: {message}");
        // A field of JSON schemas, and not a word of Rust.
        messages.push(message.replace("`enum`", "`const`"));
    }
    assert!(messages.len() > 150, "{}", messages.len());
    assert_in_words(&messages);
}

/// Whether a text is allowed as a whole.
fn allows(constraint: &Constraint, pretrained: &Pretrained, text: &str) -> bool {
    let ids = pretrained.tokenizer.encode_bare(text).unwrap();
    let follower = constraint.follow();
    let is_next = |at: usize| follower.next(&ids[..at]).unwrap().mask().contains(ids[at]);
    (0..ids.len()).all(is_next) && {
        let next = follower.next(&ids).unwrap();
        let ends = constraint.vocabulary().end_ids();
        next.is_complete() || ends.iter().any(|&id| next.mask().contains(id))
    }
}

fn of_x(x: Value) -> Value {
    json!({
        "type": "object", "properties": {"x": x}, "required": ["x"], "additionalProperties": false,
    })
}

/// From 2^53 on, a float of 64 bits does not hold every integer.
#[test]
fn large_numbers_are_those_of_the_schema() {
    let pretrained = bundled(&device());
    let many = json!({"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 20}]});
    for (x, inside, outside) in [
        (
            json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64, "maximum": 9_007_199_254_740_995_u64}),
            &["9007199254740993", "9007199254740994", "9007199254740995"][..],
            &["9007199254740992", "9007199254740996", "90071992547409930"][..],
        ),
        (
            json!({"type": "integer", "minimum": 18_446_744_073_709_551_614_u64, "maximum": u64::MAX}),
            &["18446744073709551614", "18446744073709551615"],
            &[
                "18446744073709551613",
                "18446744073709551616",
                "18446744073709552000",
            ],
        ),
        (
            json!({"type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX}),
            &["-9223372036854775808", "9223372036854775807", "0", "-7"],
            &["-9223372036854775809", "9223372036854775808", "1.5"],
        ),
        (
            json!({"type": ["integer", "null"], "exclusiveMinimum": 9_007_199_254_740_992_u64}),
            &["9007199254740993", "123456789012345678901234567890", "null"],
            &["9007199254740992", "5", "\"5\""],
        ),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMaximum": 9_007_199_254_740_993_u64}),
            &["9007199254740992", "0", "0.25"],
            &["9007199254740993", "-1", "9007199254740993.0"],
        ),
        (
            json!({"maximum": -9_007_199_254_740_993_i64}),
            &["-9007199254740993", "\"a\"", "[1]"],
            &["1"],
        ),
        (
            json!({"enum": [1_234_567_890_123_456_789_u64, 3, "a"]}),
            &["1234567890123456789", "3", "\"a\""],
            &["1234567890123456768", "1234567890123456800", "4"],
        ),
        (
            json!({"type": "object", "const": {"id": [-1_234_567_890_123_456_789_i64]}}),
            &["{\"id\": [-1234567890123456789]}"],
            &["{\"id\": [-1234567890123456768]}", "{}"],
        ),
        // What looks like what stands for another one is a number like others.
        (
            json!({"enum": [9_007_199_254_740_991_u64, 9_007_199_254_740_993_u64, 9_007_199_254_740_990_u64]}),
            &["9007199254740990", "9007199254740991", "9007199254740993"],
            &["9007199254740989", "9007199254740992"],
        ),
    ] {
        let grammar = schema(of_x(x.clone()));
        // As a tool's: in a Lark grammar, beside another schema.
        let lark = |grammar: &Grammar| match grammar {
            Grammar::JsonSchema(schema) => schema.to_lark(),
            _ => unreachable!(),
        };
        let both = format!("start: {} | {}", lark(&grammar), lark(&schema(many.clone())));
        for grammar in [grammar, Grammar::Lark(both)] {
            let constraint = pretrained.constraint(&grammar).unwrap();
            let is_allowed =
                |value: &&str| allows(&constraint, &pretrained, &format!("{{\"x\": {value}}}"));
            assert!(inside.iter().all(is_allowed), "{grammar:?}");
            assert!(!outside.iter().any(is_allowed), "{grammar:?}");
        }
    }
    for (x, place) in [
        (json!({"const": 1e300}), "#/properties/x: 1e+300"),
        (json!({"type": "number", "maximum": 1e20}), "#/properties/x: 1e+20"),
        (
            json!({"allOf": [{"maximum": 9_007_199_254_740_993_u64}, {"minimum": 3}]}),
            "#/properties/x: 9007199254740993 is beyond 2^53",
        ),
        (
            json!({"type": "number", "minimum": 0.5, "maximum": u64::MAX}),
            "#/properties/x: 0.5 has a fraction",
        ),
        (
            json!({"type": "integer", "minimum": u64::MAX, "maximum": i64::MAX}),
            "#/properties/x: there is no number",
        ),
        (
            json!({"type": "integer", "multipleOf": 4_000_000_000_u64}),
            "#/properties/x: `multipleOf`",
        ),
    ] {
        let found = problem(&schema(of_x(x)), &pretrained);
        assert!(found.starts_with(place), "{found}");
    }
}

/// `serde_json` reads a decimal fast and, without its feature `float_roundtrip`, as one that may differ in its last place.
#[test]
fn decimals_are_those_of_the_schema() {
    let pretrained = bundled(&device());
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    let decimals = (0.001..1e9, any::<bool>());
    TestRunner::new(config)
        .run(&decimals, |(number, is_negative)| {
            let decimal = format!("{}{number}", if is_negative { "-" } else { "" });
            let value = serde_json::from_str(&format!("{{\"const\": {decimal}}}")).unwrap();
            let constraint = pretrained.constraint(&schema(of_x(value))).unwrap();
            let text = format!("{{\"x\": {decimal}}}");
            prop_assert!(allows(&constraint, &pretrained, &text), "{text}");
            Ok(())
        })
        .unwrap();
}

/// Where a text can begin and not end, a model would go on until it has no token left.
#[test]
fn a_schema_with_a_dead_end_is_refused_by_its_place() {
    let pretrained = bundled(&device());
    let patterns = |more: Value| {
        let mut whole = json!({"type": "object", "additionalProperties": false});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    let cycle = json!({"a": {"$ref": "#/$defs/a"}});
    let endless = json!({"a": {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1}});
    for (wrong, expected) in [
        (
            patterns(json!({"patternProperties": {"^b$": {"const": 2}}, "required": ["b"]})),
            "#: some texts can begin and never end",
        ),
        (
            patterns(json!({
                "properties": {"a": {"type": "integer"}}, "required": ["a"],
                "patternProperties": {"^a$": {"minimum": 0}},
            })),
            "#: some texts can begin and never end",
        ),
        (
            json!({
                "$defs": cycle, "type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
                "required": ["x"],
            }),
            "#/$defs/a: nothing satisfies it",
        ),
        (
            json!({"$defs": endless, "type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}),
            "#: some texts can begin and never end",
        ),
        (
            json!({"type": "array", "items": {"$ref": "#"}, "minItems": 1}),
            "#/items: nothing satisfies it",
        ),
        (
            patterns(json!({
                "patternProperties": {"^[ab]$": {"const": 1}}, "minProperties": 2, "maxProperties": 3,
            })),
            "#: `minProperties` is 2",
        ),
        (
            json!({"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 0.7}),
            "#: nothing satisfies it",
        ),
        (
            json!({"enum": ["a", {"b": ["a\u{1}c"]}]}),
            "#: a string with the control character U+0001",
        ),
        (
            json!({"type": "string", "pattern": r"^a\x00b$"}),
            "#: a string with the control character U+0000",
        ),
    ] {
        let found = problem(&schema(wrong.clone()), &pretrained);
        assert!(found.starts_with(expected), "{wrong}: {found}");
        let Grammar::JsonSchema(whole) = schema(wrong) else {
            unreachable!()
        };
        let tool = Grammar::Lark(format!("start: \"{{\" {} \"}}\" | \"x\"", whole.to_lark()));
        problem(&tool, &pretrained);
    }
    for wrong in [
        "start: \"a\" b | \"c\"\nb: \"(\" b \")\"",
        "start: a\na: \"x\" a",
    ] {
        problem(&Grammar::Lark(wrong.to_owned()), &pretrained);
    }
    for fine in [
        patterns(json!({"properties": {"a": {}}, "patternProperties": {"^[ab]$": {"const": 1}}})),
        patterns(json!({"patternProperties": {"^[ab]$": {"const": 1}}, "minProperties": 1})),
        json!({"$defs": {"a": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/a"}}]}}, "$ref": "#/$defs/a"}),
        json!({"type": "object", "required": ["a", "b"], "minProperties": 3}),
        json!({"type": "array", "items": {"$ref": "#"}}),
    ] {
        assert!(pretrained.constraint(&schema(fine.clone())).is_ok(), "{fine}");
    }
}

/// By an escape, the name of one property would be that of another.
#[test]
fn a_character_is_written_in_one_way() {
    let pretrained = bundled(&device());
    let open = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let constraint = pretrained.constraint(&schema(open)).unwrap();
    assert!(allows(&constraint, &pretrained, r#"{"a": 1, "b\n": "a"}"#));
    for wrong in [
        r#"{"\u0061": "a"}"#,
        r#"{"a": 1, "\u0061": "a"}"#,
        r#"{"a": 1, "a": 2}"#,
    ] {
        assert!(!allows(&constraint, &pretrained, wrong), "{wrong}");
    }
    let names = json!({"type": "string", "pattern": r#"^[^"\\/]+$"#});
    let constraint = pretrained.constraint(&schema(names)).unwrap();
    assert!(allows(&constraint, &pretrained, r#""a\nb""#));
    for wrong in [r#""a\"b""#, r#""a\\b""#, r#""a/b""#] {
        assert!(!allows(&constraint, &pretrained, wrong), "{wrong}");
    }
}

#[test]
fn what_is_too_large_too_deep_or_too_much_work_is_refused() {
    let pretrained = bundled(&device());
    let many: serde_json::Map<_, _> =
        (0..20_000).map(|i| (format!("field-number-{i}"), json!({"type": "null"}))).collect();
    let large = pretrained.constraint(&schema(json!({"type": "object", "properties": many})));
    assert!(matches!(large, Err(Error::Request(RequestError::GrammarTooLarge { .. }))));
    let long = Grammar::Lark(format!("start: \"{}\"", "a".repeat(1 << 20)));
    let long = pretrained.constraint(&long);
    assert!(matches!(long, Err(Error::Request(RequestError::GrammarTooLarge { .. }))));

    let mut deep = json!({"type": "null"});
    for _ in 0..40 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(pretrained.constraint(&schema(deep.clone())).is_ok());
    for _ in 0..30 {
        deep = json!({"type": "array", "items": deep});
    }
    let found = problem(&schema(deep), &pretrained);
    assert!(found.contains("deeper than 64 levels"), "{found}");

    let (in_schema, in_lark) = (doubled(), format!("start: %json {}", doubled()));
    for hostile in [schema(in_schema), Grammar::Lark(in_lark)] {
        let found = problem(&hostile, &pretrained);
        assert!(found.contains("it has more than 250000 parts"), "{found}");
    }

    // What a grammar asks for is found out bit by bit, and each bit is small.
    for hostile in [
        schema(json!({"type": "string", "pattern": "(((a{1,60}){1,60}){1,60}){1,60}"})),
        schema(json!({"type": "string", "minLength": 1_000_000_000, "maxLength": 2_000_000_000})),
        schema(json!({"type": "array", "minItems": 1_000_000_000})),
        Grammar::Lark("start: /a/{100000}".to_owned()),
        Grammar::Lark(format!("start: /(.*a.{{{}}}|.*b.{{{}}})+/", 400, 401)),
    ] {
        let start = Instant::now();
        let _ = pretrained.constraint(&hostile).map(|constraint| random(&constraint, 1, 5));
        let time = start.elapsed();
        assert!(time.as_secs() < 20, "{hostile:?}: {time:?}");
    }
    for wrong in [
        format!("start: {}\"a\"{}", "(".repeat(10_000), ")".repeat(10_000)),
        conditions(3000),
        format!("start: {}", "a{".repeat(100_000)),
        terminals(3000),
        "start: start \"a\"".to_owned(),
        String::new(),
    ] {
        assert!(pretrained.constraint(&Grammar::Lark(wrong.clone())).is_err(), "{wrong:.60}");
    }
}

/// What the parser, and the automata below it, say of their own limits would help nobody.
#[test]
fn a_limit_of_the_parser_is_told_in_words() {
    let pretrained = bundled(&device());
    let letters = |i: u8| format!("/(.*{}.*)/", char::from(b'a' + i));
    let intersected = (0..10).map(letters).collect::<Vec<_>>().join(" & ");
    let kind = |i: usize| {
        let kind = json!({"const": format!("kind {i}")});
        let of_it = format!("x{i}");
        json!({"type": "object", "properties": {of_it: {"type": "integer"}, "kind": kind}, "required": ["kind"]})
    };
    let kinds: Vec<Value> = (0..100).map(kind).collect();
    for (grammar, told) in [
        (Grammar::Lark(format!("start: WORD\nWORD: {intersected}")), "intersect fewer"),
        (schema(json!({"allOf": kinds})), "combine fewer"),
    ] {
        let found = problem(&grammar, &pretrained);
        assert!(found.contains(told), "{grammar:?}: {found}");
    }
    let found = pretrained.constraint(&Grammar::Regex(r"\w{1000}".to_owned()));
    assert!(matches!(found, Err(Error::Request(RequestError::GrammarTooLarge { .. }))));
}

#[test]
fn an_object_may_have_thousands_of_properties_that_may_be_left_out() {
    let pretrained = bundled(&device());
    let properties: serde_json::Map<_, _> =
        (0..3000).map(|i| (format!("p{i}"), json!({"type": "integer"}))).collect();
    let object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let constraint = pretrained.constraint(&schema(object)).unwrap();
    for (text, is_allowed) in [
        ("{}", true),
        (r#"{"p2999":1}"#, true),
        (r#"{"p7":1,"p2998":2}"#, true),
        (r#"{"p3000":1}"#, false),
    ] {
        assert_eq!(allows(&constraint, &pretrained, text), is_allowed, "{text}");
    }
}

/// Each definition has the next one twice, beside a constraint, which takes a copy: these are 2^30.
fn doubled() -> Value {
    let definition = |i: usize| {
        let next = json!({"type": "object", "$ref": format!("#/$defs/a{}", i + 1)});
        (format!("a{i}"), json!({"type": "object", "properties": {"x": next, "y": next}}))
    };
    let last = ("a30".to_owned(), json!({"type": "object"}));
    let definitions: serde_json::Map<_, _> = (0..30).map(definition).chain([last]).collect();
    json!({"$ref": "#/$defs/a0", "$defs": definitions})
}

/// A rule with a condition that is negated so many times.
fn conditions(times: usize) -> String {
    let (open, close) = ("not(".repeat(times), ")".repeat(times));
    format!("start: a::0\na::_: \"x\" a::incr(_) %if {open}lt(_, 3){close} | \"y\"\n")
}

/// A terminal that excludes another one, which is made of so many.
fn terminals(count: usize) -> String {
    let one = |i: usize| format!("A{i}: \"a\" | \"b\" A{} \"c\"\n", i + 1);
    let all: String = (0..count).map(one).collect();
    format!("start: T\nT: /[a-z ]*/ & ~A0\n{all}A{count}: \"d\"\n")
}

/// `llguidance` reads all of these by functions that call themselves, and a stack that overflows ends the
/// process: that this comes to its end is what is tested.
#[test]
fn what_refers_to_one_another_thousands_of_times_ends_nothing() {
    let pretrained = bundled(&device());
    let rules: String = (0..8000).map(|i| format!("r{i}: \"(\" r{}\n", i + 1)).collect();
    let definitions: serde_json::Map<_, _> = (0..5000)
        .map(|i| (format!("a{i}"), json!({"$ref": format!("#/$defs/a{}", i + 1)})))
        .chain([("a5000".to_owned(), json!({"type": "null"}))])
        .collect();
    let fields: serde_json::Map<_, _> =
        (0..5000).map(|i| (format!("a{i}"), json!({"type": "null"}))).collect();
    let patterns: Vec<_> = (0..5000).map(|_| json!({"type": "string", "pattern": "a"})).collect();
    for chain in [
        Grammar::Lark(format!("start: r0\n{rules}r8000: \"x\"\n")),
        Grammar::Lark(conditions(1900)),
        Grammar::Lark(terminals(1900)),
        schema(json!({"$ref": "#/$defs/a0", "$defs": definitions})),
        schema(json!({"type": "object", "properties": fields})),
        schema(json!({"type": "string", "allOf": patterns})),
    ] {
        // Other threads have no more room than this one.
        let _ = pretrained.constraint(&chain).map(|constraint| random(&constraint, 1, 5));
    }
}

#[test]
fn requests_take_a_schema() {
    let inference =
        InferenceBuilder::new().with_model(bundled(&device())).build(streaming_handler).unwrap();
    let request: GenerateRequest = serde_json::from_value(json!({
        "prompt": "Once", "max_tokens": 40,
        "grammar": {"json_schema": {"enum": ["upon a time", {"more": [1, 2]}]}},
    }))
    .unwrap();
    for seed in 0..4 {
        let found = inference.infer(request.clone().with_seed(seed)).run().unwrap();
        let text: String = found.outputs.iter().map(|token| token.token.as_str()).collect();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value == json!("upon a time") || value == json!({"more": [1, 2]}), "{text}");
    }
    let wrong = request.with_grammar(Grammar::Lark("start: \"a".to_owned()));
    assert!(matches!(
        inference.infer(wrong).run(),
        Err(Error::Request(RequestError::Grammar { .. }))
    ));
}
