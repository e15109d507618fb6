//! Calls between the special tokens of Kimi K2, whose ids are names with a number.

use crate::tools::style::{Known, PLAIN, Style};

const KIMI: Style = Style {
    marks: &[
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|tool_calls_section_end|>",
    ],
    begin: "<|tool_calls_section_begin|>",
    open: "<|tool_call_begin|>",
    name: ["functions.", "<|tool_call_argument_begin|>"],
    is_numbered: true,
    close: "<|tool_call_end|>",
    end: "<|tool_calls_section_end|>",
    has_room: true,
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    // Not all templates write calls.
    (known.says(KIMI.begin) || known.has(KIMI.begin)).then_some(KIMI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Piece;
    use crate::tools::split::tests::{assert_calls, assert_text, pieces};

    #[test]
    fn calls_have_their_numbers() {
        let text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.feed:0<|tool_call_argument_begin|>{\"a\": \"}\"}\
            <|tool_call_end|><|tool_call_begin|>functions.feed_all:11<|tool_call_argument_begin|>{}<|tool_call_end|>\
            <|tool_calls_section_end|>";
        let both = [("feed", "{\"a\": \"}\"}"), ("feed_all", "{}")];
        assert_calls(KIMI, text, "", &both);
        assert_calls(KIMI, &format!("I feed them.{text}"), "I feed them.", &both);
        let ids: Vec<Option<String>> = pieces(KIMI, &[text])
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Call { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        assert_eq!(
            ids,
            ["functions.feed:0", "functions.feed_all:11"].map(|id| Some(id.to_owned()))
        );
        assert_text(KIMI, "functions.feed:0");
    }
}
