//! JSON schemas and Lark grammars: every text is inside its grammar, and has the same bits however it is
//! computed.

#![cfg(feature = "flex")]

mod common;

use std::time::Instant;

use common::constrained::{assert_same_bits, options};
use common::texts::alone;
use common::{bundled, device};
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
        (
            json!({"if": {}}),
            r#"#/properties/a~1b/items/anyOf/1: Unimplemented keys: ["if"]"#,
        ),
        (
            json!({"type": "strange"}),
            "#/properties/a~1b/items/anyOf/1: Invalid type: strange",
        ),
        (
            json!({"type": "string", "pattern": "("}),
            "#/properties/a~1b/items/anyOf/1: unclosed group",
        ),
        (json!(3), "#/properties/a~1b/items/anyOf/1: schema must be"),
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
    assert!(found.starts_with("#/$defs/b: Unimplemented keys: [\"not\"]"), "{found}");
    for (wrong, expected) in [
        (json!([]), "#: schema must be an object or boolean"),
        (json!(false), "#: Unsatisfiable schema"),
        (json!({"type": "integer", "minimum": 3, "maximum": 2}), "#: "),
    ] {
        let found = problem(&schema(wrong), &pretrained);
        assert!(found.starts_with(expected), "{found}");
    }
    let found = problem(&Grammar::Lark("start: a\nb: \"x\"".to_owned()), &pretrained);
    assert!(found.contains("unknown name"), "{found}");
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
