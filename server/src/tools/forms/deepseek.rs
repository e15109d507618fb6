//! Calls between the special tokens of DeepSeek: with the arguments in a block of code, and since V3.1 bare.

use crate::tools::style::{Known, PLAIN, Style};

const BLOCK: Style = Style {
    marks: &[
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁calls▁end｜>",
    ],
    begin: "<｜tool▁calls▁begin｜>",
    open: "<｜tool▁call▁begin｜>",
    name: ["function<｜tool▁sep｜>", "\n```json\n"],
    close: "\n```<｜tool▁call▁end｜>",
    between: "\n",
    end: "<｜tool▁calls▁end｜>",
    has_room: true,
    ..PLAIN
};

const BARE: Style = Style {
    name: ["", "<｜tool▁sep｜>"],
    close: "<｜tool▁call▁end｜>",
    between: "",
    ..BLOCK
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    let style = if known.says("```json") { BLOCK } else { BARE };
    known.says(BLOCK.begin).then_some(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::split::tests::{assert_calls, assert_text};

    #[test]
    fn calls_lie_between_tokens() {
        let both = [("feed", r#"{"animal": "fox"}"#), ("feed_all", "{}")];
        let block = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>feed\n```json\n{\"animal\": \"fox\"}\n\
            ```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>feed_all\n```json\n{}\n```<｜tool▁call▁end｜>\
            <｜tool▁calls▁end｜>";
        assert_calls(BLOCK, block, "", &both);
        assert_calls(BLOCK, &format!("I feed them.{block}"), "I feed them.", &both);
        let bare = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>feed<｜tool▁sep｜>{\"animal\": \"fox\"}<｜tool▁call▁end｜>\
            <｜tool▁call▁begin｜>feed_all<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
        assert_calls(BARE, bare, "", &both);
        assert_calls(BARE, &format!("I feed them.\n\n{bare}"), "I feed them.\n\n", &both);
        assert_text(BARE, "```json\n{}\n```");
    }
}
