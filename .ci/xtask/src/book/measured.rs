//! Finds measured numbers in prose that no output beside them has printed.
//!
//! A number with a unit of time, speed or share must round to one that the page shows in an output
//! or a chart, or a page that its paragraph links to. A paragraph of other numbers says where they
//! are from: see [`MARK`].

use super::includes::includes;
use super::problem::Problem;
use super::sources::{BOOK, Sources, resolve};

const UNITS: [&str; 12] = [
    "µs",
    "ms",
    "second",
    "seconds",
    "minute",
    "minutes",
    "tokens a second",
    "GB/s",
    "Gflop/s",
    "%",
    "times",
    "nats",
];

/// Begins a comment that says where the numbers of a paragraph are from, if from no output:
/// `<!-- no output: computed -->`.
const MARK: &str = "<!-- no output: ";

pub fn check(file: &str, text: &str, sources: &Sources) -> Vec<Problem> {
    // What a reader is asked, what the answers repeat of it, and what an exercise takes is made up.
    let name = file.strip_prefix(BOOK).unwrap_or(file);
    if name == "answers.md" || name.contains('/') {
        return Vec::new();
    }
    let printed = printed(file, sources);
    let mut problems = Vec::new();
    for (offset, paragraph) in prose(text) {
        if paragraph.contains(MARK) {
            continue;
        }
        let linked: Vec<f64> = links(paragraph)
            .filter_map(|page| resolve(file, page))
            .flat_map(|page| self::printed(&page, sources))
            .collect();
        for number in measured(paragraph) {
            if !printed.iter().chain(&linked).any(|&printed| number.is(printed)) {
                let message = format!(
                    "\"{} {}\" is in no output of this page: include the output that prints it, \
                     link to the page that does, or say where it is from: {MARK}... -->",
                    number.digits, number.unit
                );
                problems.push(Problem::at(file, text, offset + number.offset, message));
            }
        }
    }
    problems
}

/// The paragraphs with their offsets, without code, the questions to predict, and the time that
/// reading takes.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut is_code, mut is_question) = (false, false);
    let mut offset = 0;
    text.split("\n\n").filter_map(move |paragraph| {
        let at = offset;
        offset += paragraph.len() + 2;
        let fences = paragraph.lines().filter(|line| line.trim_start().starts_with("```")).count();
        let was_code = is_code;
        is_code ^= fences % 2 == 1;
        if paragraph.starts_with('#') {
            is_question = paragraph.starts_with("## Predict");
        }
        let skipped = was_code || fences > 0 || is_question || paragraph.starts_with("*About ");
        (!skipped).then_some((at, paragraph))
    })
}

/// The pages that a paragraph links to.
fn links(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph.split("](").skip(1).filter_map(|rest| {
        let end = rest.find(['#', ')'])?;
        rest[..end].ends_with(".md").then_some(&rest[..end])
    })
}

/// The numbers in the outputs and charts that a page includes: in everything but listings.
fn printed(page: &str, sources: &Sources) -> Vec<f64> {
    let Ok(text) = sources.text(page) else {
        return Vec::new();
    };
    includes(text)
        .filter(|include| !include.path.ends_with(".rs"))
        .filter_map(|include| resolve(page, include.path))
        .filter_map(|path| sources.text(&path).ok())
        .flat_map(|output| numbers(output).map(|(_, digits)| value(digits)))
        .collect()
}

/// A number with a unit.
struct Measured<'a> {
    offset: usize,
    digits: &'a str,
    unit: &'static str,
}

impl Measured<'_> {
    /// Whether it is this number, rounded to as many decimals.
    fn is(&self, printed: f64) -> bool {
        let decimals = self.digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10f64.powi(-(decimals as i32));
        // The same in the units of outputs.
        let printed = match self.unit {
            "%" => [printed, 100.0 * printed],
            "second" | "seconds" => [printed, printed / 1000.0],
            _ => [printed; 2],
        };
        printed.iter().any(|printed| (printed - value(self.digits)).abs() <= half + 1e-9)
    }
}

fn measured(paragraph: &str) -> impl Iterator<Item = Measured<'_>> {
    numbers(paragraph).filter_map(|(offset, digits)| {
        let rest = paragraph[offset + digits.len()..].trim_start();
        let is_unit = |unit: &&&str| {
            let after = rest.strip_prefix(**unit);
            after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        };
        let unit = UNITS.iter().find(is_unit)?;
        Some(Measured { offset, digits, unit })
    })
}

/// The numbers of a text with their offsets: digits, with commas between thousands, and decimals.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let mut end = 0;
    text.char_indices().filter_map(move |(start, c)| {
        if start < end || !c.is_ascii_digit() {
            return None;
        }
        let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
        end = start + length;
        let is_word = |c: char| c.is_alphanumeric() || ['/', '-', '_', '.', '#'].contains(&c);
        let is_inside = text[..start].chars().next_back().is_some_and(is_word);
        (!is_inside).then(|| (start, text[start..end].trim_end_matches([',', '.'])))
    })
}

fn value(digits: &str) -> f64 {
    digits.replace(',', "").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(page: &str) -> Vec<String> {
        let sources = Sources::from([
            ("book/src/a.md", page),
            ("book/src/b.md", "{{#include output/b.txt}}"),
            (
                "book/src/output/a.txt",
                "decode 0.1562 ms, 2,200 tokens/s, 0.873 of all\nv1.2.3",
            ),
            ("book/src/output/b.txt", "1.5 GB/s"),
        ]);
        let found = check("book/src/a.md", page, &sources);
        found.iter().map(|problem| problem.to_string()[14..].to_owned()).collect()
    }

    #[test]
    fn a_number_must_be_printed_on_the_page() {
        let include = "{{#include output/a.txt}}\n\n";
        assert!(
            messages(&format!("{include}It takes 0.16 ms, at 2,200 tokens a second.")).is_empty()
        );
        assert!(messages(&format!("{include}The share is 87%\nof all.")).is_empty());
        let found = messages(&format!("{include}One.\nIt takes 0.17 ms."));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("4: \"0.17 ms\" is in no output"), "{found:?}");
        assert_eq!(messages("It takes 0.16 ms.").len(), 1);
    }

    #[test]
    fn a_page_that_is_linked_to_may_print_it() {
        assert!(messages("It reads 1.5 GB/s, see [there](b.md#roof).").is_empty());
        assert_eq!(messages("It reads 1.5 GB/s.\n\nSee [there](b.md).").len(), 1);
    }

    #[test]
    fn questions_code_and_what_is_marked_are_not_measured() {
        let page = "*About 25 minutes.*\n\n## Predict\n\nAfter 5 seconds?\n\n## Idea\n\n\
                    ```text\n7 ms\n\n8 ms\n```\n\nSay 9 ms. <!-- no output: given -->\n\n10 timestamps";
        assert!(messages(page).is_empty(), "{:?}", messages(page));
    }
}
