//! The grammar of an answer that may call tools.

use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::grammar::{Grammar, Schema};

use super::style::{Arguments, Tags};
use super::tagged::Kind;
use super::{Callable, Toolbox};

impl Toolbox {
    /// The texts that a model may write: calls, and where none is required, an answer. `format` is the
    /// schema of answers; None for any text.
    pub(in super::super) fn grammar(&self, format: Option<&Schema>) -> Grammar {
        let style = &self.style;
        let lead = style.lead();
        let mut lark = String::new();
        let prelude = self.prelude.map_or_else(String::new, |id| format!("<[{id}]>?"));
        // Writing to a `String` cannot fail.
        let _ = match (self.is_required, style.has_text_before(), self.begins_with_mark(&lead)) {
            (true, ..) => writeln!(lark, "start: {prelude} {} calls", self.literal(&lead)),
            (false, true, false) => writeln!(
                lark,
                "start: answer | before calls\nbefore[lazy]: /(?s:.*){}/",
                regex(&lead)
            ),
            // Before a special token, all is text.
            (false, true, true) => writeln!(
                lark,
                "start: answer | BEFORE? {} calls\nBEFORE: /(?s:.+)/",
                self.literal(&lead)
            ),
            (false, false, _) => {
                writeln!(lark, "start: answer | {prelude} {} calls", self.literal(&lead))
            }
        };
        if !self.is_required {
            let _ = writeln!(lark, "answer: {}", self.answer(&lead, format));
        }
        let more = match self.is_parallel {
            true => {
                format!("({} body)*", self.literal(&format!("{}{}", style.between, style.open)))
            }
            false => String::new(),
        };
        let _ = writeln!(lark, "calls: body {more} {}", self.literal(style.end));
        let names: Vec<String> =
            (0..self.tools.len()).map(|index| format!("tool_{index}")).collect();
        let _ = writeln!(lark, "body: {}", names.join(" | "));
        let [before, behind] = style.name;
        let number = if style.is_numbered {
            r#"":" /[0-9]+/"#
        } else {
            ""
        };
        for (rule, tool) in names.iter().zip(&self.tools) {
            let name = self.literal(&format!("{before}{}", tool.name));
            let (behind, close) = (self.literal(behind), self.literal(style.close));
            let (arguments, rules) = self.arguments(tool, rule);
            let _ = writeln!(lark, "{rule}: {name} {number} {behind} {arguments} {close}\n{rules}");
        }
        Grammar::Lark(lark)
    }

    /// An answer, which does not look like a call.
    fn answer(&self, lead: &str, format: Option<&Schema>) -> String {
        let header = self.literal(self.style.answer);
        let text = match (format, lead.lines().next()) {
            (Some(schema), _) => return format!("{header} {}", schema.to_lark()),
            (None, Some(_)) if self.begins_with_mark(lead) => "/(?s:.+)/".to_owned(),
            (None, Some(open)) => format!("/(?s:.+)/ & ~/(?s:.*){}(?s:.*)/", regex(open)),
            (None, None) => r"/(?s:[^{].*)/".to_owned(),
        };
        format!("{header} TEXT?\nTEXT: {text}")
    }

    /// The arguments of a tool, and the rules that they need.
    fn arguments(&self, tool: &Callable, rule: &str) -> (String, String) {
        let tags = match self.style.arguments {
            Arguments::Object => {
                return (Schema::from(tool.parameters.clone()).to_lark(), String::new());
            }
            Arguments::Tags(tags) => tags,
        };
        let nothing = Default::default();
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let required = tool.parameters.get("required").and_then(Value::as_array);
        let (mut arguments, mut rules) = (String::new(), String::new());
        for (index, (name, schema)) in properties.unwrap_or(&nothing).iter().enumerate() {
            let is_required = required.is_some_and(|names| names.contains(&json!(name)));
            let may_miss = if is_required { "" } else { "?" };
            let rule = format!("{rule}_{index}");
            let Tags { open, value, close, after } = tags;
            let begin = self.literal(&format!("{open}{name}{value}"));
            let (text, end) =
                (self.value(tool, name, schema), self.literal(&format!("{close}{after}")));
            let _ = write!(arguments, "{rule}{may_miss} ");
            let _ = match text {
                Some(text) => writeln!(rules, "{rule}: {begin} {text} {end}"),
                // Up to the first that closes it.
                None => writeln!(
                    rules,
                    "{rule}: {begin} {rule}_text {}\n{rule}_text[lazy]: /(?s:.*){}/",
                    self.literal(after),
                    regex(close)
                ),
            };
        }
        (arguments, rules)
    }

    /// The value of an argument; None for any text.
    fn value(&self, tool: &Callable, name: &str, schema: &Value) -> Option<String> {
        let choices = schema.get("enum").and_then(Value::as_array);
        match (Kind::of(&tool.parameters, name), choices) {
            (Kind::Text, Some(choices)) => {
                let choices =
                    choices.iter().filter_map(Value::as_str).map(|text| json!(text).to_string());
                Some(format!("({})", choices.collect::<Vec<String>>().join(" | ")))
            }
            (Kind::Json, _) => {
                let mut schema = schema.clone();
                // What it refers to is beside the properties.
                for definitions in ["$defs", "definitions"] {
                    if let (Some(found), Value::Object(fields)) =
                        (tool.parameters.get(definitions), &mut schema)
                    {
                        fields.entry(definitions).or_insert_with(|| found.clone());
                    }
                }
                Some(Schema::from(schema).to_lark())
            }
            (Kind::Text | Kind::Either, _) => None,
        }
    }

    fn begins_with_mark(&self, text: &str) -> bool {
        self.marks.iter().any(|(_, mark)| text.starts_with(mark))
    }

    /// A text as Lark has it, with the special tokens in it; nothing for none.
    fn literal(&self, text: &str) -> String {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let found =
                self.marks.iter().filter_map(|(id, mark)| Some((rest.find(mark)?, id, mark)));
            let Some((at, id, mark)) = found.min_by_key(|(at, ..)| *at) else {
                parts.push(json!(rest).to_string());
                break;
            };
            parts.extend((at > 0).then(|| json!(rest[..at]).to_string()));
            parts.push(format!("<[{id}]>"));
            rest = &rest[at + mark.len()..];
        }
        parts.join(" ")
    }
}

/// A text as a part of a regular expression.
fn regex(text: &str) -> String {
    let escaped = |c: char| match c {
        '\n' => r"\n".to_owned(),
        c if r"\/.+*?()|[]{}^$".contains(c) => format!(r"\{c}"),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
