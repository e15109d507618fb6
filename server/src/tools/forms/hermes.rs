//! Calls in tags, as Hermes and Qwen write them.

use crate::tools::style::{Known, PLAIN, Style};

const HERMES: Style = Style {
    open: "<tool_call>\n",
    close: "}\n</tool_call>",
    between: "\n",
    has_room: true,
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    known.says("<tool_call>").then_some(HERMES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn calls_in_tags_come_after_text_and_after_each_other() {
        let first = "<tool_call>\n{\"name\": \"feed\", \"arguments\": {}}\n</tool_call>";
        let second =
            "<tool_call>\n{\"name\": \"feed_all\", \"arguments\": {\"a\": 1}}\n</tool_call>";
        let both = [("feed", "{}"), ("feed_all", "{\"a\": 1}")];
        assert_calls(HERMES, first, "", &both[..1]);
        let text = "1 < 2 <tool\n";
        assert_calls(HERMES, &format!("{text}{first}\n{second}"), text, &both);
        for text in [
            text,
            "<tool_call>\n{\"name\": \"feed\", \"arguments\": 3}",
            "<tool_call>\n{",
        ] {
            assert_text(HERMES, text);
        }
    }
}
