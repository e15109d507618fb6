//! What `llguidance` compares in pairs, or has to hold all at once: a few KB of a schema may ask for millions of
//! comparisons, which nothing interrupts.

use std::collections::HashSet;

use serde_json::Value;

/// The most patterns of names in a schema. Of each two it asks whether a name matches both, which may take a
/// millisecond.
const MOST_PATTERNS: usize = 32;

/// The most comparisons of alternatives of which one alone may hold.
const MOST_COMPARISONS: u64 = 4_000_000;

/// The most regular expressions that a text matches all at once. Each may double the work.
pub(super) const MOST_AT_ONCE: usize = 10;

/// Why a schema asks for too many comparisons, if it does.
pub(super) fn too_many(schema: &Value) -> Option<String> {
    let (mut patterns, mut comparisons) = (HashSet::new(), 0_u64);
    // Not by a function that calls itself: a schema may nest deeply.
    let mut left = vec![schema];
    while let Some(part) = left.pop() {
        match part {
            Value::Object(fields) => {
                if let Some(Value::Object(named)) = fields.get("patternProperties") {
                    patterns.extend(named.keys());
                }
                let at_once = at_once(part);
                if at_once > MOST_AT_ONCE {
                    return Some(format!(
                        "`allOf` asks for {at_once} patterns at once, and may ask for {MOST_AT_ONCE}: each doubles the work"
                    ));
                }
                if let Some(one_of) = fields.get("oneOf") {
                    let alternatives = alternatives(one_of);
                    comparisons = comparisons.saturating_add(alternatives * alternatives / 2);
                }
                left.extend(fields.values());
            }
            Value::Array(list) => left.extend(list),
            _ => {}
        }
    }
    if patterns.len() > MOST_PATTERNS {
        return Some(format!(
            "it has {} patterns of names (`patternProperties`), more than {MOST_PATTERNS}, each two of which are compared: join some of them with `|`",
            patterns.len()
        ));
    }
    (comparisons > MOST_COMPARISONS).then(|| {
        "its alternatives in `oneOf` are too many to compare each with each: take `anyOf`, where nothing is compared".to_owned()
    })
}

/// How many patterns a schema asks for at once.
fn at_once(schema: &Value) -> usize {
    let (mut found, mut left) = (0, vec![schema]);
    while let Some(part) = left.pop() {
        found += usize::from(part.get("pattern").is_some_and(Value::is_string));
        left.extend(part.get("allOf").and_then(Value::as_array).into_iter().flatten());
    }
    found
}

/// How many alternatives a list of schemas has, with those within.
fn alternatives(list: &Value) -> u64 {
    let (mut found, mut left) = (0, vec![list]);
    while let Some(part) = left.pop() {
        match part {
            Value::Array(list) => left.extend(list),
            Value::Object(fields) => {
                let within = ["enum", "anyOf", "oneOf"].map(|name| fields.get(name));
                let mut lists = within.into_iter().flatten().filter_map(Value::as_array).peekable();
                if lists.peek().is_none() {
                    let required = fields.get("required").and_then(Value::as_array);
                    found += required.map_or(1, |required| required.len().max(1) as u64);
                }
                left.extend(lists.flatten());
            }
            _ => found += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_compared_in_pairs_is_counted() {
        let words = |count: usize| (0..count).map(|i| format!("w{i}")).collect::<Vec<_>>();
        let patterns = |count: usize| -> Value {
            words(count)
                .into_iter()
                .map(|word| (word, json!({})))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        for (schema, expected) in [
            (json!({"patternProperties": patterns(32)}), None),
            (json!({"patternProperties": patterns(33)}), Some("33 patterns of names")),
            (
                json!({"allOf": [{"patternProperties": patterns(32)}, {"patternProperties": {"^x": true}}]}),
                Some("33 patterns"),
            ),
            (json!({"oneOf": [{"enum": words(1400)}, {"enum": words(1400)}]}), None),
            (
                json!({"oneOf": [{"enum": words(1500)}, {"enum": words(1500)}]}),
                Some("`oneOf`"),
            ),
            (
                json!({"items": {"oneOf": [{"anyOf": [{"enum": words(3000)}]}, true]}}),
                Some("`oneOf`"),
            ),
            (json!({"anyOf": [{"enum": words(3000)}, true]}), None),
            (
                json!({"items": {"pattern": "a", "allOf": vec![json!({"pattern": "b"}); 9]}}),
                None,
            ),
            (
                json!({"allOf": [{"allOf": vec![json!({"pattern": "b"}); 10]}, {"pattern": "a"}]}),
                Some("11 patterns at once"),
            ),
        ] {
            let found = too_many(&schema);
            assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
        }
    }
}
