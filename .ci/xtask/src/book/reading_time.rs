//! Checks how long a page says that it takes to read, by what is on it.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::includes::{anchored, includes};
use super::markdown;
use super::problem::Problem;
use super::sources::{Sources, resolve};

/// Words of prose in a minute.
const WORDS: f64 = 200.0;
/// Seconds for a line of a listing or an output.
const LINE: f64 = 1.5;
/// Seconds for a row of a table.
const ROW: f64 = 3.0;
/// Seconds for a figure or a formula.
const FIGURE: f64 = 20.0;
/// Seconds for a box that computes on the page.
const WIDGET: f64 = 90.0;
/// Pages say multiples of five minutes, and one more sentence is no reason for another number.
const TOLERANCE: f64 = 4.0;

/// The problem with the reading time of a page, if it says one. Exercises and answers take no part
/// in it.
pub fn check(file: &str, text: &str, sources: &Sources) -> Option<Problem> {
    let (line, said) = text.lines().enumerate().find_map(|(i, line)| Some((i + 1, said(line)?)))?;
    let counted = minutes(file, text, sources);
    let is_right = (said - counted).abs() <= TOLERANCE;
    (!is_right).then(|| {
        let message = format!("takes about {counted:.0} minutes to read, and says {said}");
        Problem::new(file, line, message)
    })
}

/// The minutes in `*About 20 minutes.*`, or `*About twenty minutes, and some for the compiler.*`.
pub fn said(line: &str) -> Option<f64> {
    let time = line.trim().strip_prefix("*About ")?.strip_suffix(".*")?;
    let (number, _) = time.split_once(" minutes")?;
    let words = ["five", "ten", "fifteen", "twenty"];
    let in_words = words.iter().position(|word| *word == number).map(|i| 5.0 * (i + 1) as f64);
    in_words.or_else(|| number.parse().ok())
}

/// The minutes that a page takes.
fn minutes(file: &str, text: &str, sources: &Sources) -> f64 {
    let (text, mut seconds) = expanded(file, text, sources);
    let (mut in_code, mut in_table) = (false, false);
    for (event, _) in markdown::events(&text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Table(_)) => in_table = true,
            Event::End(TagEnd::Table) => in_table = false,
            Event::End(TagEnd::TableRow) => seconds += ROW,
            Event::Text(code) if in_code => {
                seconds +=
                    LINE * code.lines().filter(|line| !line.trim().is_empty()).count() as f64;
            }
            Event::Text(prose) | Event::Code(prose) if !in_table => {
                seconds += 60.0 / WORDS * prose.split_whitespace().count() as f64;
            }
            Event::Html(html) if html.contains("<math") => seconds += FIGURE,
            _ => {}
        }
    }
    seconds / 60.0
}

/// The page with its listings and outputs, and the seconds for its figures and widgets.
fn expanded(file: &str, text: &str, sources: &Sources) -> (String, f64) {
    let (mut page, mut seconds, mut end) = (String::new(), 0.0, 0);
    for include in includes(text) {
        page += &text[end..include.offset];
        let rest = &text[include.offset..];
        end = include.offset + rest.find("}}").map_or(rest.len(), |length| length + 2);
        match include.path.split('/').next() {
            Some("figures") => seconds += FIGURE,
            Some("widgets") => seconds += WIDGET,
            Some("exercises" | "answers") => {}
            _ => {
                let path = resolve(file, include.path).unwrap_or_default();
                let included = sources.text(&path).unwrap_or_default();
                page += anchored(included, include.anchor);
            }
        }
    }
    (page + &text[end..], seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(said: &str, page: &str) -> Option<String> {
        let text = format!("# A\n\n{said}\n\n{page}");
        let sources = Sources::from([
            ("book/src/a.md", text.as_str()),
            ("book/src/exercises/a.md", &"word ".repeat(4000)),
            (
                "src/lib.rs",
                &format!("// ANCHOR: a\n{}// ANCHOR_END: a\n", "let a;\n".repeat(400)),
            ),
        ]);
        check("book/src/a.md", &text, &sources).map(|problem| problem.to_string())
    }

    #[test]
    fn prose_is_two_hundred_words_a_minute() {
        let page = "word ".repeat(2000) + "\n\n{{#include exercises/a.md}}";
        assert_eq!(message("*About ten minutes.*", &page), None);
        assert_eq!(message("*About 10 minutes, and some for the compiler.*", &page), None);
        let found = message("*About 25 minutes.*", &page);
        let expected = "book/src/a.md:3: takes about 10 minutes to read, and says 25";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(message("No time.", &page), None);
    }

    #[test]
    fn listings_tables_and_figures_take_time() {
        let listing = "```rust\n{{#include ../../src/lib.rs:a}}\n```\n";
        assert_eq!(message("*About ten minutes.*", listing), None);
        let table = format!("| a |\n|---|\n{}", "| word word |\n".repeat(200));
        assert_eq!(message("*About ten minutes.*", &table), None);
        let figures = "{{#include figures/a.svg}}\n\n<math>\n</math>\n\n".repeat(15);
        assert_eq!(message("*About ten minutes.*", &figures), None);
    }
}
