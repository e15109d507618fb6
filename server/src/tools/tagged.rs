//! Arguments that are written each by itself, and the JSON object that they are.

use serde_json::{Value, json};

use super::style::Tags;

/// How a value is written, by the schema of its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string, as it is.
    Text,
    /// JSON.
    Json,
    /// JSON, or else a string.
    Either,
}

impl Kind {
    pub(super) fn of(parameters: &Value, name: &str) -> Self {
        let schema = parameters.get("properties").and_then(|properties| properties.get(name));
        schema.map_or(Kind::Either, Self::of_schema)
    }

    fn of_schema(schema: &Value) -> Self {
        let list = |name| schema.get(name).and_then(Value::as_array);
        let kind = |kind: &Value| {
            if kind == "string" {
                Kind::Text
            } else {
                Kind::Json
            }
        };
        let value = |value: &Value| {
            if value.is_string() {
                Kind::Text
            } else {
                Kind::Json
            }
        };
        let kinds: Vec<Kind> = match (schema.get("type"), list("enum"), list("anyOf")) {
            (Some(Value::Array(types)), ..) => types.iter().map(kind).collect(),
            (Some(one), ..) => vec![kind(one)],
            (None, Some(values), _) => values.iter().map(value).collect(),
            (None, None, Some(schemas)) => schemas.iter().map(Self::of_schema).collect(),
            (None, None, None) => Vec::new(),
        };
        match kinds.first() {
            Some(first) if kinds.iter().all(|kind| kind == first) => *first,
            _ => Kind::Either,
        }
    }
}

/// Reads arguments in tags, and writes JSON. However its text is cut, the JSON is the same.
#[derive(Debug, Clone)]
pub(super) struct TaggedScan {
    tags: Tags,
    /// Behind the arguments.
    close: &'static str,
    /// The schema of the arguments.
    parameters: Value,
    place: Place,
    /// Whether no argument has come.
    is_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before an argument, or the end.
    Between,
    Name,
    Value(Kind),
}

impl TaggedScan {
    pub(super) fn new(tags: Tags, close: &'static str, parameters: Value) -> Self {
        Self {
            tags,
            close,
            parameters,
            place: Place::Between,
            is_first: true,
        }
    }

    /// Takes from a text what is clear, and adds its JSON. Whether the arguments end there; None where more is
    /// needed.
    pub(super) fn step(&mut self, text: &mut String, json: &mut String) -> Option<bool> {
        match self.place {
            Place::Between => {
                text.drain(..text.len() - text.trim_start().len());
                let Tags { open, .. } = self.tags;
                if text.starts_with(open) {
                    text.drain(..open.len());
                    json.push_str(if self.is_first { "{" } else { ", " });
                    (self.place, self.is_first) = (Place::Name, false);
                    return Some(false);
                }
                if open.starts_with(&**text)
                    || self.close.len() > text.len() && self.close.starts_with(&**text)
                {
                    return None;
                }
                json.push_str(if self.is_first { "{}" } else { "}" });
                Some(true)
            }
            Place::Name => {
                let at = text.find(self.tags.value)?;
                let name = &text[..at];
                let kind = Kind::of(&self.parameters, name);
                json.push_str(&format!("{}: ", json!(name)));
                json.push_str(if kind == Kind::Text { "\"" } else { "" });
                text.drain(..at + self.tags.value.len());
                self.place = Place::Value(kind);
                Some(false)
            }
            Place::Value(kind) => {
                let close = self.tags.close;
                let Some(at) = text.find(close) else {
                    let held =
                        (1..close.len()).rev().find(|&length| text.ends_with(&close[..length]));
                    let settled = text.len() - held.unwrap_or(0);
                    if kind != Kind::Either {
                        json.push_str(&written(kind, &text[..settled]));
                        text.drain(..settled);
                    }
                    return None;
                };
                json.push_str(&written(kind, &text[..at]));
                json.push_str(if kind == Kind::Text { "\"" } else { "" });
                text.drain(..at + close.len());
                self.place = Place::Between;
                Some(false)
            }
        }
    }

    /// The JSON of what is left at the end of a text that was cut off.
    pub(super) fn finish(&self, rest: &str) -> String {
        match self.place {
            Place::Value(kind @ (Kind::Text | Kind::Json)) => written(kind, rest),
            _ => String::new(),
        }
    }
}

/// A value, or a piece of one, as a piece of JSON.
fn written(kind: Kind, text: &str) -> String {
    let quoted = json!(text).to_string();
    match kind {
        Kind::Text => quoted[1..quoted.len() - 1].to_owned(),
        Kind::Either if serde_json::from_str::<Value>(text).is_err() => quoted,
        Kind::Json | Kind::Either => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_by_its_schema() {
        for (schema, kind) in [
            (json!({"type": "string"}), Kind::Text),
            (json!({"enum": ["a", "b"]}), Kind::Text),
            (json!({"type": "array", "items": {"type": "string"}}), Kind::Json),
            (json!({"type": ["integer", "null"]}), Kind::Json),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), Kind::Json),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), Kind::Either),
            (json!({"enum": ["a", 1]}), Kind::Either),
            (json!({}), Kind::Either),
            (json!(true), Kind::Either),
        ] {
            assert_eq!(Kind::of(&json!({"properties": {"a": schema}}), "a"), kind, "{schema}");
        }
        assert_eq!(Kind::of(&json!({}), "a"), Kind::Either);
        assert_eq!(written(Kind::Either, "null"), "null");
        assert_eq!(written(Kind::Either, "no\n"), r#""no\n""#);
    }
}
