//! Finds words that the book avoids, because they tell readers that their difficulties are easy.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown;
use super::problem::Problem;

const WORDS: [&str; 2] = ["simply", "just"];

pub fn check(file: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut in_code = false;
    for (event, range) in markdown::events(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(_) if in_code => {}
            Event::Text(_) | Event::Html(_) | Event::InlineHtml(_) => {
                for (offset, word) in words(&text[range.clone()]) {
                    if WORDS.iter().any(|unwanted| word.eq_ignore_ascii_case(unwanted)) {
                        let message = format!("says \"{word}\"");
                        problems.push(Problem::at(file, text, range.start + offset, message));
                    }
                }
            }
            _ => {}
        }
    }
    problems
}

/// The words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.split(move |c: char| !is_letter(c))
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check("a.md", text).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn an_unwanted_word_is_found() {
        assert_eq!(messages("One adds.\n\nOne *just*\nadds."), ["a.md:3: says \"just\""]);
        assert_eq!(messages("<p>\nSimply add.</p>"), ["a.md:2: says \"Simply\""]);
    }

    #[test]
    fn code_may_say_it() {
        assert!(messages("Adjust `just`.\n\n```text\nsimply\n```\n").is_empty());
    }
}
