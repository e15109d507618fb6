//! The grammar of an answer that may call tools.

use std::fmt::Write;

use serde_json::json;
use slowburn::grammar::{Grammar, Schema};

use super::Toolbox;

impl Toolbox {
    // ANCHOR: grammar
    /// The texts that a model may write: calls, and where none is required, an answer. `format` is the
    /// schema of answers; None for any text.
    pub(in super::super) fn grammar(&self, format: Option<&Schema>) -> Grammar {
        let open = json!(self.style.open);
        let mut lark = String::new();
        // Writing to a `String` cannot fail.
        let _ = match (self.is_required, self.style.has_tags()) {
            (true, false) => writeln!(lark, "start: body"),
            (true, true) => writeln!(lark, "start: {open} calls"),
            (false, false) => writeln!(lark, "start: answer | body\n{}", self.answer(format)),
            (false, true) => {
                writeln!(lark, "start: answer | before calls\n{}", self.answer(format))
            }
        };
        if self.style.has_tags() {
            let more = format!(r#"("\n" {open} body)*"#);
            let _ = writeln!(lark, "calls: body {}", if self.is_parallel { &more } else { "" });
        }
        let names: Vec<String> =
            (0..self.tools.len()).map(|index| format!("tool_{index}")).collect();
        let _ = writeln!(lark, "body: {}", names.join(" | "));
        let footer = json!(self.style.footer());
        for (name, tool) in names.iter().zip(&self.tools) {
            let header = json!(self.style.header(&tool.name));
            let arguments = Schema::from(tool.parameters.clone()).to_lark();
            let _ = writeln!(lark, "{name}: {header} {arguments} {footer}");
        }
        Grammar::Lark(lark)
    }
    // ANCHOR_END: grammar

    /// The rule for an answer, which does not look like a call, and for what may come before a call.
    fn answer(&self, format: Option<&Schema>) -> String {
        let open = self.style.open.trim_end();
        let before = match self.style.has_tags() {
            true => format!("before[lazy]: /(?s:.*){open}\\n/\n"),
            false => String::new(),
        };
        let text = match (format, self.style.has_tags()) {
            (Some(schema), _) => return format!("answer: {}\n{before}", schema.to_lark()),
            (None, true) => format!("/(?s:.+)/ & ~/(?s:.*){open}(?s:.*)/"),
            (None, false) => r"/(?s:[^{].*)/".to_owned(),
        };
        format!("answer: TEXT?\nTEXT: {text}\n{before}")
    }
}
