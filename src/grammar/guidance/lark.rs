//! What of a Lark grammar may lie within each other.

use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

/// The word before a schema.
const BEFORE_SCHEMA: &str = "%json";

/// The words before JSON.
const BEFORE_JSON: [&str; 3] = [BEFORE_SCHEMA, "%llguidance", "%regex"];

/// The number of brackets that open and of terminals that are defined. No condition is deeper, and no
/// terminal with those that it is made of, but for the regular expressions in it.
pub(super) fn brackets_and_terminals(grammar: &str) -> usize {
    let (mut rest, mut found) = (grammar, 0);
    // A terminal has a capital in its name, which is on a line with the colon behind it.
    let mut has_capital = false;
    while let Some(first) = rest.chars().next() {
        match first {
            '\n' => has_capital = false,
            'A'..='Z' => has_capital = true,
            '(' | '[' | '{' => found += 1,
            ':' => found += usize::from(has_capital),
            _ => {}
        }
        rest = &rest[length(rest, first)..];
    }
    found
}

/// The number of `&`, by which terminals are intersected.
pub(super) fn intersections(grammar: &str) -> usize {
    let (mut rest, mut found) = (grammar, 0);
    while let Some(first) = rest.chars().next() {
        found += usize::from(first == '&');
        rest = &rest[length(rest, first)..];
    }
    found
}

/// The schemas in a grammar.
pub(super) fn schemas(grammar: &str) -> Vec<Value> {
    let mut found = Vec::new();
    // None is an error.
    let _ = with_schemas(grammar, |schema| {
        found.push(schema.clone());
        Ok(schema)
    });
    found
}

/// A grammar with other schemas in the place of its own.
///
/// # Errors
/// The first of `change`.
pub(super) fn with_schemas(
    grammar: &str,
    mut change: impl FnMut(Value) -> Result<Value, String>,
) -> Result<String, String> {
    let (mut rest, mut changed) = (grammar, String::with_capacity(grammar.len()));
    while let Some(first) = rest.chars().next() {
        let (piece, behind) = rest.split_at(length(rest, first));
        let schema = piece.strip_prefix(BEFORE_SCHEMA).map(serde_json::from_str::<Value>);
        match schema {
            Some(Ok(schema)) => {
                changed.push_str(BEFORE_SCHEMA);
                changed.push(' ');
                changed.push_str(&change(schema)?.to_string());
            }
            _ => changed.push_str(piece),
        }
        rest = behind;
    }
    Ok(changed)
}

/// The bytes of what a text begins with: a string, a regular expression, a comment, a special token, JSON
/// or a character. As `llguidance` refuses what has no end, that goes to the end of the text.
fn length(text: &str, first: char) -> usize {
    match first {
        '"' => quoted(text, '"'),
        '/' if !text.starts_with("//") => quoted(text, '/'),
        '/' | '#' => text.find('\n').unwrap_or(text.len()),
        '<' => text.find('>').map_or(text.len(), |end| end + 1),
        '%' => json(text),
        _ => first.len_utf8(),
    }
}

/// The bytes up to the next `quote` that has no backslash before it.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let is_end = |&(_, c): &(usize, char)| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    let end = text.char_indices().skip(1).find(is_end);
    end.map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

/// The bytes of a word with the JSON behind it, or of the `%` alone where there is none.
fn json(text: &str) -> usize {
    let Some(word) = BEFORE_JSON.into_iter().find(|word| text.starts_with(*word)) else {
        return 1;
    };
    let mut values = Deserializer::from_str(&text[word.len()..]).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => word.len() + values.byte_offset(),
        _ => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_in_strings_expressions_comments_and_json_does_not_count() {
        for (grammar, expected) in [
            ("", 0),
            ("start: a | WORD\na: \"x\" DIGIT b\nb: \"y\"\n", 0),
            ("start: (a [b] ){2}\na: \"é\" (b)", 4),
            ("A: \"a\"\nB.2: A\n_C : B\nd[stop=\"D\"]: C", 4),
            // More than one on a line.
            ("start: \"x\" -> yA: \"(\" -> z B: A", 2),
            (r#"start: "(\"(" "\\" (a) /[(\/(]/i <[(]> // (["#, 1),
            ("start: a # (\na: (\"#\" \"//\" /#/)", 1),
            ("start: /(\n(/ (a)", 1),
            (r#"start: %json {"(\"": [{"A": "["}]} (a)"#, 1),
            (r#"start: "%json" (a) %json true (a)"#, 2),
            (
                "%llguidance { \"no_forcing\": true }\nstart: %regex\n{\"substring_words\": \"(\"}",
                0,
            ),
            ("%ignore (A)\n%import common.WORD -> A\nstart: a %if not(true)", 2),
        ] {
            assert_eq!(brackets_and_terminals(grammar), expected, "{grammar}");
        }
    }

    #[test]
    fn what_is_intersected_is_counted() {
        assert_eq!(intersections("start: A\nA: /a&/ & \"&\" & ~B // &\nB: /b/"), 2);
    }

    #[test]
    fn schemas_are_found_where_they_are_no_text() {
        let grammar = r#"
            start: "%json {}" a // %json 1
            a: %json {"type": "null"} | /%json 2/ %json [
                3] # %json 4
            %llguidance {"%json": 5}
            b: %json true %json {"#;
        let expected = [json!({"type": "null"}), json!([3]), json!(true)];
        assert_eq!(schemas(grammar), expected);
        let changed = with_schemas(grammar, |_| Ok(json!({}))).unwrap();
        assert_eq!(schemas(&changed), vec![json!({}); 3]);
        let outside = |grammar: &str| brackets_and_terminals(grammar);
        assert_eq!(outside(&changed), outside(grammar));
        assert!(changed.contains(r#""%json {}" a // %json 1"#), "{changed}");
    }

    /// It ends, whatever is missing.
    #[test]
    fn what_has_no_end_goes_to_the_end_of_the_text() {
        for grammar in [
            "a: \"(",
            "a: /(",
            "a: <(",
            "a: %json {\"(",
            "a: %json",
            "a: # (",
            "a: \"\\",
        ] {
            assert_eq!(brackets_and_terminals(grammar), 0, "{grammar}");
        }
    }
}
