//! What a constraint lets through is valid JSON under its schema: by another reader of schemas, on random
//! schemas, and on those of the official test suite.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use schemas::{allows, bundled, walk};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use slowburn::constrained::Constraint;
use slowburn::grammar::{Grammar, Schema};
use slowburn::pretrained::Pretrained;
use slowburn::{Error, RequestError};

/// How many random schemas; the environment variable `SLOWBURN_SCHEMAS` asks for others.
const SCHEMAS: u32 = 2000;

fn compile(pretrained: &Pretrained, schema: &Value) -> Result<Constraint, String> {
    let grammar = Grammar::JsonSchema(Schema::from(schema.clone()));
    pretrained.constraint(&grammar).map_err(|error| match error {
        Error::Request(
            RequestError::Grammar { .. }
            | RequestError::GrammarEmpty
            | RequestError::GrammarUnspellable,
        ) => error.to_string(),
        error => panic!("{schema}: {error}"),
    })
}

/// The value of a text. None where it has a number that no float of 64 bits holds, such as 1e999: it is JSON
/// all the same.
fn parse(text: &str) -> serde_json::Result<Option<Value>> {
    match serde_json::from_str(text) {
        Err(error) if error.to_string().starts_with("number out of range") => {
            serde_json::from_str::<IgnoredAny>(text).map(|_| None)
        }
        parsed => parsed.map(Some),
    }
}

/// An object, in which of a name that is there twice the first value counts. Another reader may take the last.
struct First(Map<String, Value>);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = First;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<First, A::Error> {
                let mut first = Map::new();
                while let Some((name, value)) = fields.next_entry()? {
                    first.entry::<String>(name).or_insert(value);
                }
                Ok(First(first))
            }
        }
        from.deserialize_map(Fields)
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

fn leaf() -> impl Strategy<Value = Value> {
    let bounds = (-30..30i64, 0..40i64);
    let lengths = (0..4u64, 0..6u64);
    prop_oneof![
        Just(json!({"type": "null"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "number"})),
        Just(json!({"type": ["integer", "null"]})),
        bounds.clone().prop_map(
            |(least, more)| json!({"type": "integer", "minimum": least, "maximum": least + more})
        ),
        (bounds, any::<bool>(), any::<bool>()).prop_map(|((least, more), above, below)| {
            let (least, most) = (least as f64 / 4.0, (least + more + 1) as f64 / 4.0);
            let least_is = if above { "exclusiveMinimum" } else { "minimum" };
            let most_is = if below { "exclusiveMaximum" } else { "maximum" };
            json!({"type": "number", least_is: least, most_is: most})
        }),
        (1..9u64).prop_map(|of| json!({
            "type": "integer", "multipleOf": of, "minimum": 0, "maximum": 1_000_000, // what an f64 holds exactly
        })),
        lengths.prop_map(
            |(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more})
        ),
        (large(), 0..4u64, prop::sample::select(vec![json!("integer"), json!("number"), json!(["integer", "null"])]))
            .prop_map(|(least, more, kind)| json!({
                "type": kind, "minimum": least, "maximum": above(&least, more),
            })),
        (large(), any::<bool>(), any::<bool>()).prop_map(|(bound, is_least, is_open)| {
            let name = match (is_least, is_open) {
                (true, false) => "minimum",
                (true, true) => "exclusiveMinimum",
                (false, false) => "maximum",
                (false, true) => "exclusiveMaximum",
            };
            json!({"type": "integer", name: bound})
        }),
        (large(), scalar()).prop_map(|(large, other)| json!({"enum": [large, other, {"id": large}]})),
        (1..20u64).prop_map(|quarters| json!({
            "type": "number", "multipleOf": quarters as f64 / 4.0, "minimum": -1000, "maximum": 1000,
        })),
        prop::sample::select(vec![
            "^[a-c]+$", "x", "^(fox|é)?$", r"\d{2,3}", "^[^a]{1,3}$", r#"^[^"\\]{1,4}$"#,
        ])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern, "maxLength": 12})),
        prop::sample::select(vec!["duration", "ipv4", "uuid"])
            .prop_map(|format| json!({"type": "string", "format": format})),
        prop::collection::vec(scalar(), 1..4).prop_map(|values| json!({"enum": values})),
        scalar().prop_map(|value| json!({"const": value})),
        Just(json!({"const": {"b": [1, {"a": null}], "a": "x"}})),
    ]
}

/// An integer that no float of 64 bits is, or only just.
fn large() -> impl Strategy<Value = Value> {
    let around = prop::sample::select(vec![
        1_i128 << 53,
        -(1 << 53),
        1_234_567_890_123_456_789,
        -1_234_567_890_123_456_789,
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
    ]);
    (around, -3..4_i128).prop_map(|(around, by)| integer(around + by))
}

/// The nearest of 64 bits.
fn integer(number: i128) -> Value {
    match i64::try_from(number.max(i64::MIN.into())) {
        Ok(number) => number.into(),
        Err(_) => u64::try_from(number).unwrap_or(u64::MAX).into(),
    }
}

fn above(least: &Value, more: u64) -> Value {
    let least = least.as_i64().map_or_else(|| least.as_u64().unwrap().into(), i128::from);
    integer(least + i128::from(more))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1000..1000i64).prop_map(Value::from),
        "[a-c\"\\\\é\n]{0,4}".prop_map(Value::from),
    ]
}

/// Schemas whose values are small, made of what schemas are made of.
fn schema() -> impl Strategy<Value = Value> {
    let body = leaf().prop_recursive(3, 14, 4, |inner| {
        let fields = prop::collection::vec(
            (
                prop::sample::select(vec!["a", "b", "long name", "é\"", "d/e"]),
                inner.clone(),
                any::<bool>(),
            ),
            0..4,
        );
        prop_oneof![
            3 => (fields.clone(), 0..3u8).prop_map(|(fields, additional)| object(&fields, additional)),
            1 => (fields, 0..3u8, patterns(inner.clone()), 0..4u64, 0..3u64, any::<(bool, bool)>())
                .prop_map(|(fields, additional, patterns, least, more, (is_least, is_most))| {
                    let mut schema = object(&fields, additional);
                    schema["patternProperties"] = patterns;
                    if is_least {
                        schema["minProperties"] = least.into();
                    }
                    if is_most {
                        schema["maxProperties"] = (least + more).into();
                    }
                    schema
                }),
            2 => (inner.clone(), 0..2u64, 0..3u64).prop_map(|(items, least, more)| json!({
                "type": "array", "items": items, "minItems": least, "maxItems": least + more,
            })),
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|first| json!({
                "type": "array", "minItems": first.len(), "prefixItems": first, "items": false,
            })),
            1 => prop::collection::vec(inner.clone(), 1..4).prop_map(|any| json!({"anyOf": any})),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"allOf": [a, b]})),
            1 => Just(json!({"$ref": "#/$defs/again"})),
            1 => prop::sample::select(vec!["loop", "endless", "tree"])
                .prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        ]
    });
    (body, leaf()).prop_map(|(mut body, leaf)| {
        let again = json!({
            "type": "object",
            "properties": {"value": leaf, "more": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/again"}]}},
            "required": ["value", "more"],
            "additionalProperties": false,
        });
        body["$defs"] = json!({
            "again": again,
            "loop": {"$ref": "#/$defs/loop"},
            "endless": {"type": "array", "items": {"$ref": "#/$defs/endless"}, "minItems": 1},
            "tree": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 2}]},
        });
        body
    })
}

/// Schemas for names that match expressions, no two of which match the same name.
fn patterns(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let some =
        prop::sample::subsequence(vec!["^[ab]$", "^a$", "^x-", "long", "^[c-e]/?[e-z]?$"], 1..3);
    (some, inner.clone(), inner).prop_map(|(names, one, other)| {
        let schemas = [one, other].into_iter().cycle();
        names.into_iter().map(str::to_owned).zip(schemas).collect::<Map<_, _>>().into()
    })
}

fn object(fields: &[(&str, Value, bool)], additional: u8) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema, _)| ((*name).to_owned(), schema.clone())).collect();
    let is_required = |name: &&str| fields.iter().any(|(of, _, required)| of == name && *required);
    let mut names: Vec<&str> =
        fields.iter().map(|(name, _, _)| *name).filter(is_required).collect();
    names.sort_unstable();
    names.dedup();
    let mut schema = json!({"type": "object", "properties": properties, "required": names});
    match additional {
        0 => {}
        1 => schema["additionalProperties"] = json!(false),
        _ => schema["additionalProperties"] = json!({"type": "integer"}),
    }
    schema
}

fn without_definitions(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(fields) = &mut schema {
        fields.remove("$defs");
    }
    schema
}

#[test]
fn values_under_random_schemas_are_valid() {
    let cases = std::env::var("SLOWBURN_SCHEMAS").map_or(SCHEMAS, |cases| cases.parse().unwrap());
    let pretrained = bundled().unwrap();
    let config = Config { cases, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let (ended, refused, too_large) = (Cell::new(0), Cell::new(0), Cell::new(0));
    runner
        .run(&(schema(), any::<u64>()), |(schema, seed)| {
            let constraint = match compile(&pretrained, &schema) {
                Ok(constraint) => constraint,
                Err(error) => {
                    // Two that have no value in common, names that may repeat or that an expression is made
                    // for, what needs itself, and nothing else.
                    let text = without_definitions(&schema).to_string();
                    let is_expected = ["allOf", "patternProperties", "/loop", "/endless"]
                        .iter()
                        .any(|cause| text.contains(cause));
                    prop_assert!(is_expected, "{}: {}", schema, error);
                    refused.set(refused.get() + 1);
                    return Ok(());
                }
            };
            // A `$ref` that leads nowhere is one of several here, and the other reader would follow it for ever.
            let is_circular = without_definitions(&schema).to_string().contains("/loop");
            let validator = (!is_circular).then(|| validator(&schema));
            for walked in 0..4 {
                let Some(text) = walk(&constraint, seed.wrapping_add(walked), 300).unwrap() else {
                    continue;
                };
                let value = parse(&text)
                    .map_err(|error| TestCaseError::fail(format!("{schema}: {text:?}: {error}")))?;
                let Some(value) = value else {
                    too_large.set(too_large.get() + 1);
                    continue;
                };
                let first = serde_json::from_str(&text).map(|First(fields)| Value::Object(fields));
                for value in first.into_iter().chain([value]) {
                    let problem =
                        validator.as_ref().and_then(|validator| validator.validate(&value).err());
                    let problem = problem.map(|error| error.to_string());
                    prop_assert!(problem.is_none(), "{}: {:?}: {:?}", schema, text, problem);
                }
                ended.set(ended.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    println!(
        "{cases} schemas, {} values, {} with numbers that are too large, {} schemas refused",
        ended.get(),
        too_large.get(),
        refused.get()
    );
    assert!(ended.get() > 3 * cases && refused.get() < cases / 4, "{ended:?} {refused:?}");
    assert!(too_large.get() < cases / 20, "{too_large:?}");
}

/// What the official tests found.
#[derive(Debug, Default)]
struct Found {
    schemas: usize,
    /// Schemas that are refused, with an error that names the place.
    refused: usize,
    /// Values that are valid, and those of them that are allowed.
    valid: (usize, usize),
    /// Values that are not valid, and those of them that are not allowed.
    invalid: (usize, usize),
    walked: usize,
    wrong: Vec<String>,
}

/// Of the suite at <https://github.com/json-schema-org/JSON-Schema-Test-Suite>, commit 44401e0: draft
/// 2020-12, the keywords and formats that `llguidance` knows.
#[test]
fn the_official_suite_finds_no_value_that_is_not_valid() {
    let pretrained = bundled().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert_eq!(files.len(), 36);
    let mut found = Found::default();
    for file in files {
        let cases: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for case in cases.as_array().unwrap() {
            let name = format!("{}: {}", file.file_stem().unwrap().display(), case["description"]);
            check(&pretrained, &name, case, &mut found);
        }
    }
    println!("{found:#?}");
    assert_eq!(found.wrong, Vec::<String>::new());
}

/// Dates and times are regular expressions there: every February has 29 days, and every minute may have a
/// leap second.
fn is_known(text: &str) -> bool {
    text.contains("-02-29") || text.contains(":60")
}

fn check(pretrained: &Arc<Pretrained>, name: &str, case: &Value, found: &mut Found) {
    let schema = &case["schema"];
    found.schemas += 1;
    let Ok(constraint) = compile(pretrained, schema) else {
        found.refused += 1;
        return;
    };
    for test in case["tests"].as_array().unwrap() {
        let text = test["data"].to_string();
        let tokens = pretrained.tokenizer.encode_bare(&text).unwrap();
        let is_allowed = allows(&constraint, &tokens).unwrap();
        if test["valid"] == true {
            found.valid.0 += 1;
            found.valid.1 += usize::from(is_allowed);
        } else {
            found.invalid.0 += 1;
            found.invalid.1 += usize::from(!is_allowed);
            if is_allowed && !is_known(&text) {
                found.wrong.push(format!("{name}: {text} is allowed"));
            }
        }
    }
    let Ok(validator) = jsonschema::options().should_validate_formats(true).build(schema) else {
        return;
    };
    for seed in 0..4 {
        let Some(text) = walk(&constraint, seed, 200).unwrap() else {
            continue;
        };
        found.walked += 1;
        match parse(&text) {
            Ok(None) => {}
            Ok(Some(value)) if validator.is_valid(&value) || is_known(&text) => {}
            _ => found.wrong.push(format!("{name}: {text} was written")),
        }
    }
}
