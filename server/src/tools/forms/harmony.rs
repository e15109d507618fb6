//! Calls in Harmony, the format of gpt-oss: a message to a function, in the channel `commentary`. Which message
//! that is, [`Thoughts`](slowburn::tokenizer::Thoughts) find out with the thoughts.

use crate::tools::style::{Known, PLAIN, Style};

const HARMONY: Style = Style {
    marks: &["<|channel|>", "<|message|>", "<|constrain|>"],
    answer: "<|channel|>final<|message|>",
    open: "<|channel|>commentary to=",
    name: ["functions.", " <|constrain|>json<|message|>"],
    close: "",
    ..PLAIN
};

pub(super) fn style(known: &Known<'_>) -> Option<Style> {
    (known.says("<|channel|>") && known.says("functions.")).then_some(HARMONY)
}
