//! The grammar of an answer that may call tools.

use std::fmt::Write;

use serde_json::json;
use slowburn::grammar::{Grammar, Schema};

use super::{Arguments, Style, Toolbox};

/// A text as Lark has it; nothing for none.
fn literal(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        json!(text).to_string()
    }
}

impl Toolbox {
    // ANCHOR: grammar
    /// The texts that a model may write: calls, and where none is required, an answer. `format` is the
    /// schema of answers; None for any text.
    pub(in super::super) fn grammar(&self, format: Option<&Schema>) -> Grammar {
        let Style { token, begin, open, between, end, .. } = self.style;
        let mut lark = String::new();
        // Writing to a `String` cannot fail.
        let _ = match (self.is_required, self.style.has_tags) {
            (true, _) => writeln!(lark, "start: {} calls", literal(open)),
            (false, false) => writeln!(lark, "start: answer | calls\n{}", self.answer(format)),
            (false, true) => {
                writeln!(lark, "start: answer | before calls\n{}", self.answer(format))
            }
        };
        let token = token.map_or_else(String::new, |id| format!("<[{id}]>"));
        let more = match self.is_parallel {
            // Each call of a style without anything between has its token.
            true if between.is_empty() => format!("({token} body)*"),
            true => format!("({} body)*", literal(&format!("{between}{open}"))),
            false => String::new(),
        };
        let _ = writeln!(lark, "calls: {token} {} body {more} {}", literal(begin), literal(end));
        let names: Vec<String> =
            (0..self.tools.len()).map(|index| format!("tool_{index}")).collect();
        let _ = writeln!(lark, "body: {}", names.join(" | "));
        let footer = literal(&self.style.footer());
        let separator = match self.style.arguments {
            Arguments::Token(id) => format!("<[{id}]>"),
            Arguments::Field(_) => String::new(),
        };
        for (name, tool) in names.iter().zip(&self.tools) {
            let header = literal(&self.style.header(&tool.name));
            let arguments = Schema::from(tool.parameters.clone()).to_lark();
            let _ = writeln!(lark, "{name}: {header} {separator} {arguments} {footer}");
        }
        Grammar::Lark(lark)
    }
    // ANCHOR_END: grammar

    /// The rule for an answer, which does not look like a call, and for what may come before a call.
    fn answer(&self, format: Option<&Schema>) -> String {
        let open = self.style.open.trim_end();
        let before = match self.style.has_tags {
            true => format!("before[lazy]: /(?s:.*){open}\\n/\n"),
            false => String::new(),
        };
        let text = match (format, self.style.has_tags) {
            (Some(schema), _) => return format!("answer: {}\n{before}", schema.to_lark()),
            // The special token tells calls from any other text.
            (None, false) if self.style.token.is_some() => "/(?s:.+)/".to_owned(),
            (None, true) => format!("/(?s:.+)/ & ~/(?s:.*){open}(?s:.*)/"),
            (None, false) => r"/(?s:[^{].*)/".to_owned(),
        };
        format!("answer: TEXT?\nTEXT: {text}\n{before}")
    }
}
