//! Checks that every chapter has all its parts in order, a reading time, and cards around what is no
//! part of its argument.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::markdown;
use super::problem::Problem;
use super::reading_time;
use super::summary::{Entry, Kind};

/// The headings of a numbered chapter. Other headings may come between.
const PARTS: [&str; 10] = [
    "Where we are",
    "Predict",
    "The idea",
    "The code",
    "Run it",
    "Measure it",
    "What goes wrong",
    "Exercises",
    "Summary",
    "Where to read more",
];

/// The sections that stand in a box, and the line before their headings that opens it.
const CARDS: [&str; 2] = ["## Predict", "### What others do"];
const CARD: &str = "<section class=\"card\">";

pub fn check(entry: &Entry, text: &str) -> Vec<Problem> {
    let file = &entry.file;
    let mut problems = Vec::new();
    if matches!(entry.kind, Kind::First | Kind::Numbered)
        && !text.lines().any(|line| reading_time::said(line).is_some())
    {
        let message = "lacks a line such as `*About twenty minutes.*`";
        problems.push(Problem::new(file, 1, message));
    }
    if entry.kind != Kind::Numbered {
        return problems;
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for pair in lines.windows(2) {
        if CARDS.contains(&pair[1]) && pair[0] != CARD {
            let offset = text.find(pair[1]).unwrap_or_default();
            let message = format!("`{}` stands in no card: `{CARD}` belongs before it", pair[1]);
            problems.push(Problem::at(file, text, offset, message));
        }
    }
    let headings = headings(text);
    // The last part found in order, and its offset.
    let mut last: Option<(usize, &str)> = None;
    for part in PARTS {
        let Some((_, offset)) = headings.iter().find(|(heading, _)| heading == part) else {
            problems.push(Problem::new(file, 1, format!("lacks the part `## {part}`")));
            continue;
        };
        match last {
            Some((before, name)) if *offset < before => {
                let message = format!("`## {part}` stands before `## {name}`, and belongs after");
                problems.push(Problem::at(file, text, *offset, message));
            }
            _ => last = Some((*offset, part)),
        }
    }
    problems
}

/// The headings of the second level with their offsets.
fn headings(text: &str) -> Vec<(String, usize)> {
    let mut headings = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (event, range) in markdown::events(text) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                open = Some((String::new(), range.start));
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(open.take()),
            Event::Text(part) | Event::Code(part) => {
                if let Some((heading, _)) = &mut open {
                    *heading += &part;
                }
            }
            _ => {}
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(parts: &[&str]) -> String {
        let card = |part: &str| {
            if part == "Predict" {
                format!("{CARD}\n\n")
            } else {
                String::new()
            }
        };
        let parts: Vec<String> =
            parts.iter().map(|part| format!("{}## {part}\n\nText\n", card(part))).collect();
        format!("# Title\n\n*About twenty minutes.*\n\n{}", parts.join("\n"))
    }

    fn messages(kind: Kind, text: &str) -> Vec<String> {
        let entry = Entry { file: "a.md".to_owned(), line: 1, kind };
        check(&entry, text).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_whole_chapter_is_right() {
        assert!(messages(Kind::Numbered, &page(&PARTS)).is_empty());
        let more = page(&PARTS).replace("## Run it", "## An aside\n\n## Run it");
        assert!(messages(Kind::Numbered, &more).is_empty());
    }

    #[test]
    fn a_missing_part_is_found() {
        let text = page(&PARTS).replace("## Exercises", "```text\n## Exercises\n```");
        assert_eq!(messages(Kind::Numbered, &text), ["a.md:1: lacks the part `## Exercises`"]);
        assert!(messages(Kind::First, &text).is_empty());
    }

    #[test]
    fn a_part_out_of_order_is_found() {
        let mut parts = PARTS;
        parts.swap(1, 2);
        let found = messages(Kind::Numbered, &page(&parts));
        assert_eq!(found, ["a.md:9: `## The idea` stands before `## Predict`, and belongs after"]);
    }

    #[test]
    fn a_question_without_a_card_is_found() {
        let text = page(&PARTS).replace(CARD, "");
        let found = messages(Kind::Numbered, &text);
        assert!(found[0].contains("`## Predict` stands in no card"), "{found:?}");
    }

    #[test]
    fn a_missing_reading_time_is_found() {
        let text = page(&PARTS).replace("*About twenty minutes.*", "*About twenty.*");
        assert!(messages(Kind::First, &text)[0].contains("lacks a line"));
        assert!(messages(Kind::Appendix, &text).is_empty());
    }
}
