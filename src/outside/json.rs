//! What `serde_json` says of a wrong text, in the words of JSON: serde speaks of Rust's types.

use std::fmt::Display;

/// A problem with JSON in words. What is no message of serde stays as it is.
pub fn json_in_words(problem: impl Display) -> String {
    let problem = problem.to_string();
    let (body, place) = match problem.rfind(" at line ") {
        Some(at) => problem.split_at(at),
        None => (&*problem, ""),
    };
    format!("{}{place}", translated(body).unwrap_or_else(|| body.to_owned()))
}

fn translated(problem: &str) -> Option<String> {
    if let Some(field) = problem.strip_prefix("missing field ") {
        return Some(format!("the field {field} is missing"));
    }
    if let Some(field) = problem.strip_prefix("duplicate field ") {
        return Some(format!("the field {field} is there twice"));
    }
    if let Some(what) = problem.strip_prefix("EOF while parsing ") {
        return Some(format!("the text ends in the middle of {what}"));
    }
    if problem.starts_with("data did not match any variant of untagged enum ") {
        return Some("a value has none of the forms that are allowed there".to_owned());
    }
    let (found, expected) = problem.rsplit_once(", expected ")?;
    const BEGINNINGS: [&str; 4] = [
        "invalid type: ",
        "invalid value: ",
        "invalid length ",
        "unknown variant ",
    ];
    let found = BEGINNINGS.iter().find_map(|beginning| found.strip_prefix(beginning))?;
    let expected = expected_in_words(expected, is_too_large(problem));
    Some(format!("{} was found instead of {expected}", found_in_words(found)))
}

/// A value as serde describes it.
fn found_in_words(found: &str) -> String {
    let number = ["integer `", "floating point `", "boolean `"];
    if let Some(value) = number.iter().find_map(|kind| found.strip_prefix(kind)) {
        return value.trim_end_matches('`').to_owned();
    }
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit value" | "Option value" => "null".to_owned(),
        found if found.starts_with("string ") => format!("the {found}"),
        found if found.bytes().all(|byte| byte.is_ascii_digit()) => format!("a length of {found}"),
        found => found.to_owned(),
    }
}

/// What serde expects. A whole number may be too large for its type.
pub fn expected_in_words(kind: &str, is_too_large: bool) -> String {
    let words = match kind {
        "a boolean" => "true or false",
        "a string" | "string or map" | "a borrowed string" | "str" => "a string",
        "a sequence" | "a list" => "a list",
        "f32" | "f64" => "a number",
        "i8" | "i16" | "i32" | "i64" | "i128" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize"
            if is_too_large =>
        {
            "a smaller whole number"
        }
        "i8" | "i16" | "i32" | "i64" | "i128" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number of 0 or more",
        "a map" => "an object",
        "unit" => "null",
        kind if kind.starts_with("struct ") => "an object",
        kind if kind.starts_with("internally tagged enum ") => "an object with a `type`",
        kind if kind.starts_with("adjacently tagged enum ") => "an object with a `type`",
        "variant identifier" => "a string",
        kind if kind.starts_with("enum ") => "a string",
        kind if ["tuple ", "a tuple of size", "an array of length"]
            .iter()
            .any(|list| kind.starts_with(list)) =>
        {
            "a list"
        }
        // Words of a type of this project's, or the values of a field that has only some.
        kind => kind,
    };
    words.replace('`', "\"")
}

/// Whether the problem is a whole number that is greater than all of its type.
pub fn is_too_large(problem: &str) -> bool {
    let number = problem.strip_prefix("invalid value: integer `");
    number.is_some_and(|number| !number.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        One,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(u32),
        Many(Vec<u32>),
    }

    #[derive(Debug, Deserialize)]
    struct All {
        size: Option<u32>,
        share: Option<f32>,
        is: Option<bool>,
        tagged: Option<Tagged>,
        some: Option<OneOrMany>,
        pair: Option<(u8, u8)>,
        name: String,
    }

    fn problem(json: &str) -> String {
        let error = serde_json::from_str::<All>(json).map(|all| {
            drop((all.size, all.share, all.is, all.tagged, all.pair, all.name));
            match all.some {
                Some(OneOrMany::One(one)) => one as usize,
                Some(OneOrMany::Many(many)) => many.len(),
                None => 0,
            }
        });
        json_in_words(error.unwrap_err())
    }

    #[test]
    fn types_of_rust_become_words_of_json() {
        for (json, words) in [
            ("{}", "the field `name` is missing"),
            (r#"{"size": -1}"#, "-1 was found instead of a whole number of 0 or more"),
            (
                r#"{"size": 4294967296}"#,
                "4294967296 was found instead of a smaller whole number",
            ),
            (r#"{"share": "x"}"#, "the string \"x\" was found instead of a number"),
            (r#"{"is": {}}"#, "an object was found instead of true or false"),
            (r#"{"tagged": 1}"#, "1 was found instead of an object with a \"type\""),
            (r#"{"some": "x"}"#, "a value has none of the forms that are allowed there"),
            (r#"{"pair": [1]}"#, "a length of 1 was found instead of a list"),
            (r#"{"name": null}"#, "null was found instead of a string"),
            (r#"{"name": "#, "the text ends in the middle of a value"),
        ] {
            let found = problem(json);
            // The place is serde's.
            let (found, _) = found.rsplit_once(" at line 1 column ").unwrap();
            assert_eq!(found, words, "{json}");
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in ["", "no such file", "x, expected y", "invalid type: x"] {
            assert_eq!(json_in_words(text), text);
        }
    }
}
