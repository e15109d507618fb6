//! Calls in the XML of Qwen3-Coder and Qwen 3.5.

use crate::tools::style::{Arguments, Known, PLAIN, Style, Tags};

const QWEN_CODER: Style = Style {
    open: "<tool_call>\n",
    name: ["<function=", ">\n"],
    arguments: Arguments::Tags(Tags {
        open: "<parameter=",
        value: ">\n",
        close: "\n</parameter>",
        after: "\n",
    }),
    close: "</function>\n</tool_call>",
    between: "\n",
    has_room: true,
    marks: &["<tool_call>", "</tool_call>"],
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    ["<tool_call>", "<function=", "<parameter="]
        .iter()
        .all(|text| known.says(text))
        .then_some(QWEN_CODER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn arguments_are_parameters() {
        let call = "<tool_call>\n<function=feed>\n<parameter=animal>\na \"fox\"\n</p\n</parameter>\n<parameter=spoons>\n\
            2\n</parameter>\n<parameter=any>\n{\"a\": 1}\n</parameter>\n</function>\n</tool_call>";
        let arguments = r#"{"animal": "a \"fox\"\n</p", "spoons": 2, "any": {"a": 1}}"#;
        let none = "<tool_call>\n<function=feed_all>\n</function>\n</tool_call>";
        let both = [("feed", arguments), ("feed_all", "{}")];
        assert_calls(QWEN_CODER, &format!("I feed.\n\n{call}\n{none}"), "I feed.\n\n", &both);
        let word = call.replace("{\"a\": 1}", "a word");
        let arguments = arguments.replace("{\"a\": 1}", "\"a word\"");
        assert_calls(QWEN_CODER, &word, "", &[("feed", &arguments)]);
        let empty = "<tool_call>\n<function=feed>\n<parameter=animal>\n\n</parameter>\n</function>\n</tool_call>";
        assert_calls(QWEN_CODER, empty, "", &[("feed", r#"{"animal": ""}"#)]);
        assert_text(QWEN_CODER, "<tool_call>\n{\"name\": \"feed\", \"arguments\": {}}");
    }
}
