//! For tests of errors: whatever text is in an error, its message is one line.
//!
//! What makes the texts safe is tested in the library with random ones.

use std::fmt::Display;

/// Long texts, texts of several lines, and texts that control a terminal.
pub fn hostile_texts() -> Vec<String> {
    let texts = [
        "",
        "plain",
        "two\nlines\r\n",
        "\u{1b}[31mred\u{7}",
        "\u{202e}sdrawkcab\u{2028}",
    ];
    let long = texts.map(|text| text.repeat(500));
    texts.into_iter().map(str::to_owned).chain(long).collect()
}

/// Asserts that an error's message has at most 1500 characters, and no control character.
pub fn assert_one_plain_line(error: &impl Display) {
    let message = error.to_string();
    let hidden = message.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}'));
    assert_eq!(hidden, None, "{message:?}");
    let length = message.chars().count();
    assert!(length <= 1500, "{length} characters: {message}");
}
