//! A schema in the way of `llguidance`, which takes some fields for others, and promises of some what it does
//! not keep.

use serde_json::{Map, Value, json};

use super::bounds;
use super::numbers::Numbers;
use super::parts::{ANNOTATIONS, visit};

/// Where `llguidance` is told how to read a schema.
pub(super) const HOW: &str = "x-guidance";

/// What may stand between the parts of a JSON text. Without a limit, a small model may go on with
/// spaces for ever.
const WHITESPACE: &str = r"\x20|\n\x20{0,32}";

/// What may follow a backslash in a string. Without `u` no character can be written in two ways: the name `a`
/// as `\u0061` would be another one, with another schema.
const ESCAPES: &str = r#"nrbtf\""#;

/// The schema that `llguidance` reads. Its large numbers are in `numbers`.
///
/// # Errors
/// What a schema asks for that would not be kept.
pub(super) fn for_guidance(schema: &Value, numbers: &mut Numbers<'_>) -> Result<Value, String> {
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        // Nothing satisfies an empty choice.
        Value::Bool(false) => json!({ "anyOf": [] }),
        schema => schema.clone(),
    };
    let mut is_combined = false;
    visit(&mut schema, |fields| {
        fields.retain(|name, value| !has_no_effect(name, value));
        is_combined |= combines(fields);
        Ok(())
    })?;
    let mut multiples = Vec::new();
    visit(&mut schema, |fields| {
        check_names(fields)?;
        check_characters(fields)?;
        multiples.extend(multiple(fields)?);
        change_patterns(fields)?;
        numbers.replace(fields, is_combined)?;
        bounds::include(fields);
        Ok(())
    })?;
    if is_combined {
        check_multiples(&multiples)?;
    }
    numbers.define(&mut schema);
    if let Value::Object(fields) = &mut schema {
        let how = json!({ "whitespace_pattern": WHITESPACE, "json_allowed_escapes": ESCAPES });
        fields.insert(HOW.to_owned(), how);
    }
    Ok(schema)
}

/// Fields of OpenAPI that say nothing about values.
const OF_OPENAPI: [&str; 6] = [
    "deprecated",
    "discriminator",
    "example",
    "externalDocs",
    "nullable",
    "xml",
];

/// Whether a field is one of those that `llguidance` ignores, but takes for one that constrains.
fn has_no_effect(name: &str, value: &Value) -> bool {
    // Schemas that a `$ref` names may be in any other.
    let is_own = name.starts_with("x-") && !value.is_object() && !value.is_array();
    is_own || OF_OPENAPI.contains(&name)
}

/// Whether a schema is several schemas, all of which hold: `llguidance` makes one of them.
fn combines(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    let constraints = fields.keys().filter(|name| !ANNOTATIONS.contains(&name.as_str())).count();
    let has_many = fields.get("allOf").and_then(Value::as_array).is_some_and(|all| all.len() > 1);
    let is_value = ["const", "enum"].iter().any(|name| has(name));
    let is_applied = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|name| has(name));
    // A type is checked with the values, and a format is one of strings.
    let beside_values = ["type", "format"].iter().filter(|name| has(name)).count();
    has_many
        || is_applied && constraints > 1
        || is_value && constraints > 1 + beside_values
        || has("properties") && has("patternProperties")
}

/// Checks that as many properties as a schema asks for have names that differ. Those that are required do, and
/// one more does. Others come from a list, in which a name may stand twice.
fn check_names(fields: &Map<String, Value>) -> Result<(), String> {
    let least = fields.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
    let mut required: Vec<&str> = match fields.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    required.sort_unstable();
    required.dedup();
    let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false))
        && !fields.contains_key("patternProperties");
    if is_closed || least <= required.len() as u64 + 1 {
        return Ok(());
    }
    Err(format!(
        "`minProperties` is {least}, and names that are not required might repeat: list at least {} names in `required`",
        least - 1
    ))
}

/// What `multipleOf` is: a number without a fraction, and the power of ten that it is to be divided by.
///
/// # Errors
/// One that takes more than the 32 bits in which `llguidance` computes remainders.
fn multiple(fields: &Map<String, Value>) -> Result<Option<(u64, u32)>, String> {
    let Some(number) = fields.get("multipleOf").and_then(Value::as_f64) else {
        return Ok(None);
    };
    if number <= 0.0 {
        return Err(format!("`multipleOf` is {number}, and must be above 0"));
    }
    // As it is done there.
    let (mut number, mut places) = (number, 0);
    while number.fract() != 0.0 {
        number *= 10.0;
        places += 1;
    }
    match places {
        0..=9 if has_room(number as u64, places) => Ok(Some((number as u64, places))),
        _ => Err("`multipleOf` has too many digits".to_owned()),
    }
}

/// Whether the remainders of a number fit into 32 bits, with another digit.
fn has_room(number: u64, places: u32) -> bool {
    let digit = 9 * 10_u64.pow(places);
    number.saturating_mul(10).saturating_add(digit) <= u64::from(u32::MAX)
}

/// Checks the numbers that values may have to be multiples of at the same time.
fn check_multiples(multiples: &[(u64, u32)]) -> Result<(), String> {
    let places = multiples.iter().map(|(_, places)| *places).max().unwrap_or(0);
    let scaled = |&(number, of): &(u64, u32)| number.saturating_mul(10_u64.pow(places - of));
    let common = multiples.iter().map(scaled).fold(1, |all, number| {
        let (mut divisor, mut rest) = (all, number);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        u64::saturating_mul(all / divisor.max(1), number)
    });
    let is_one = multiples.windows(2).all(|two| two[0] == two[1]);
    if is_one || common <= u64::from(u16::MAX) && has_room(common, places) {
        return Ok(());
    }
    Err("the numbers of `multipleOf` have too large a common multiple: leave out `allOf`, and what stands beside `$ref`, `anyOf` or `oneOf`".to_owned())
}

/// Whether a character can be written in a string only with [`ESCAPES`] that are left out. `llguidance` writes
/// the text around it as if it were not there.
fn is_unwritable(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\u{8}' | '\t' | '\n' | '\u{c}' | '\r')
}

fn unwritable(c: char) -> String {
    format!("a string with the control character U+{:04X} cannot be written", u32::from(c))
}

/// Checks the characters of constants.
fn check_characters(fields: &Map<String, Value>) -> Result<(), String> {
    let mut left: Vec<&Value> = fields.get("const").into_iter().chain(fields.get("enum")).collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                text.chars().find(|c| is_unwritable(*c)).map_or(Ok(()), |c| Err(unwritable(c)))?;
            }
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
    Ok(())
}

/// Changes the regular expressions of a schema.
fn change_patterns(fields: &mut Map<String, Value>) -> Result<(), String> {
    if let Some(Value::String(pattern)) = fields.get_mut("pattern") {
        *pattern = changed(pattern)?;
    }
    if let Some(Value::Object(patterns)) = fields.get_mut("patternProperties") {
        for (pattern, schema) in std::mem::take(patterns) {
            patterns.insert(changed(&pattern)?, schema);
        }
    }
    Ok(())
}

/// A regular expression in which no class that excludes characters has the character 0, which no text has.
/// `llguidance` 1.9 lets a class with all control characters match a quote and a backslash, too.
///
/// # Errors
/// An expression of a character that cannot be written.
fn changed(pattern: &str) -> Result<String, String> {
    let mut changed = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    // Whether each class that is open excludes its characters.
    let mut classes: Vec<bool> = Vec::new();
    while let Some(c) = rest.next() {
        changed.push(c);
        let meant = match c {
            '\\' => {
                let escaped = rest.next();
                changed.extend(escaped);
                meant(escaped, rest.clone())
            }
            '[' => {
                let excludes = rest.next_if_eq(&'^').is_some();
                changed.push_str(if excludes { r"^\x00" } else { "" });
                // At the beginning it is a character of the class.
                changed.push_str(rest.next_if_eq(&']').map_or("", |_| r"\]"));
                classes.push(excludes);
                None
            }
            ']' => {
                classes.pop();
                None
            }
            c => Some(c),
        };
        if let Some(c) = meant.filter(|c| is_unwritable(*c) && !classes.contains(&true)) {
            return Err(unwritable(c));
        }
    }
    Ok(changed)
}

/// The control character that an escape stands for.
fn meant(escaped: Option<char>, rest: impl Iterator<Item = char>) -> Option<char> {
    let longest = match escaped? {
        'a' => return Some('\u{7}'),
        'v' => return Some('\u{b}'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut rest = rest.peekable();
    let digits: String = match rest.next_if_eq(&'{') {
        Some(_) => rest.take_while(|c| *c != '}').collect(),
        None => rest.take(longest).collect(),
    };
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_exclude_characters_are_without_the_character_0() {
        for (pattern, expected) in [
            ("^[^\"a]+$", r#"^[^\x00"a]+$"#),
            (r"\[^a[^]b]", r"\[^a[^\x00\]b]"),
            (r"[a^]\\[^\]]", r"[a^]\\[^\x00\]]"),
            (r"[]^]\n\x{41}\u0042", r"[\]^]\n\x{41}\u0042"),
            (r"[^\x00-\x1f\x7f]", r"[^\x00\x00-\x1f\x7f]"),
            ("[^", r"[^\x00"),
            ("\\", "\\"),
        ] {
            assert_eq!(changed(pattern).as_deref(), Ok(expected));
        }
        for wrong in [
            r"a\x01b",
            "\u{1}",
            r"[\u001f]",
            r"\u{7f}",
            r"[^a]\v",
            r"\x{0}",
        ] {
            assert!(changed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn multiples_whose_remainders_take_more_than_32_bits_are_refused() {
        let of = |number: Value| multiple(json!({"multipleOf": number}).as_object().unwrap());
        assert_eq!(of(json!(3)), Ok(Some((3, 0))));
        assert_eq!(of(json!(0.25)), Ok(Some((25, 2))));
        assert_eq!(of(json!(429_496_728)), Ok(Some((429_496_728, 0))));
        for wrong in [
            json!(0),
            json!(-2),
            json!(429_496_729),
            json!(1e-9),
            json!(1e-320),
            json!(1e300),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(check_multiples(&[(3, 0), (5, 1), (7, 0)]).is_ok());
        assert!(check_multiples(&[(100_000, 0), (100_000, 0)]).is_ok());
        assert!(check_multiples(&[(65_521, 0), (65_519, 0)]).is_err());
    }
}
