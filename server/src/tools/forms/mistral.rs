//! Calls behind `[TOOL_CALLS]`, as Mistral's models write them: a list, and in newer models a name with its
//! arguments.

use crate::tools::style::{Known, PLAIN, Style};

const TOKEN: &str = "[TOOL_CALLS]";

const LIST: Style = Style {
    marks: &[TOKEN],
    begin: "[TOOL_CALLS][",
    between: ", ",
    end: "]",
    has_room: true,
    ..PLAIN
};

const SPACED_LIST: Style = Style { begin: "[TOOL_CALLS] [", ..LIST };

const NAMED: Style = Style {
    marks: &[TOKEN, "[ARGS]"],
    open: "[TOOL_CALLS]",
    name: ["", "[ARGS]"],
    close: "",
    has_room: true,
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    if !known.says(TOKEN) {
        None
    } else if known.says("[ARGS]") {
        Some(NAMED)
    } else if known.says(SPACED_LIST.begin) {
        Some(SPACED_LIST)
    } else {
        Some(LIST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn calls_are_a_list_or_come_after_each_other() {
        let first = r#"{"name": "feed", "arguments": {}}"#;
        let second = r#"{"name": "feed_all", "arguments": {"a": [1]}}"#;
        let both = [("feed", "{}"), ("feed_all", "{\"a\": [1]}")];
        assert_calls(SPACED_LIST, &format!("[TOOL_CALLS] [{first}]"), "", &both[..1]);
        for begin in [SPACED_LIST.begin, LIST.begin] {
            // A decoder may leave out the space behind a special token.
            assert_calls(SPACED_LIST, &format!("{begin}{first}, {second}]"), "", &both);
        }
        assert_calls(LIST, &format!("So.[TOOL_CALLS][{first}, {second}]"), "So.", &both);
        assert_calls(LIST, &format!("[TOOL_CALLS][{first},"), "", &both[..1]);
        assert_text(LIST, "[1, 2]");
        let named = "[TOOL_CALLS]feed[ARGS]{}[TOOL_CALLS]feed_all[ARGS]{\"a\": [1]}";
        assert_calls(NAMED, named, "", &both);
        assert_calls(NAMED, &format!("So.{named}"), "So.", &both);
        assert_text(NAMED, "feeding is fun");
    }
}
