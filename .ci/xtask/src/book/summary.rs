//! Checks that every page is in `SUMMARY.md`, and that a page uses every other file.

use std::collections::BTreeSet;

use super::includes;
use super::problem::Problem;
use super::sources::{BOOK, Sources, resolve};

pub const FILE: &str = "book/src/SUMMARY.md";
/// Which outputs were measured together: for `cargo xtask figures`, and no page.
const SITTINGS: &str = "book/src/output/sittings.toml";

/// The pages in reading order.
#[derive(Debug)]
pub struct Summary {
    pub chapters: Vec<Entry>,
}

/// An entry of `SUMMARY.md`.
#[derive(Debug)]
pub struct Entry {
    /// The path from the root.
    pub file: String,
    pub line: usize,
    pub kind: Kind,
}

/// The role of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page before or after the chapters, such as an introduction.
    Frame,
    /// An unnumbered chapter.
    First,
    /// A chapter whose title begins with two digits, which must have all parts.
    Numbered,
    /// Reference material, under a part title that contains "appendix".
    Appendix,
}

impl Summary {
    pub fn parse(text: &str) -> Self {
        let mut chapters = Vec::new();
        let mut in_appendix = false;
        for (i, line) in text.lines().enumerate() {
            if let Some(part) = line.strip_prefix("# ") {
                in_appendix = part.to_lowercase().contains("appendi");
            }
            let link = line.trim_start().trim_start_matches("- ");
            let Some((title, path)) = link.strip_prefix('[').and_then(|link| link.split_once("]("))
            else {
                continue;
            };
            let path = path.trim_end().trim_end_matches(')');
            let kind = if in_appendix {
                Kind::Appendix
            } else if !line.trim_start().starts_with("- ") {
                Kind::Frame
            } else if title.len() > 1 && title.as_bytes()[..2].iter().all(u8::is_ascii_digit) {
                Kind::Numbered
            } else {
                Kind::First
            };
            let file = resolve(FILE, path).unwrap_or_else(|| path.to_owned());
            chapters.push(Entry { file, line: i + 1, kind });
        }
        Self { chapters }
    }
}

impl Entry {
    /// The path of the built page within the built book.
    pub fn html(&self) -> String {
        let page = self.file.strip_prefix(BOOK).unwrap_or(&self.file);
        format!("{}.html", page.trim_end_matches(".md"))
    }
}

pub fn check(summary: &Summary, sources: &Sources) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut listed = BTreeSet::new();
    let mut shown = BTreeSet::new();
    for Entry { file, line, .. } in &summary.chapters {
        let problem = |message: String| Problem::new(FILE, *line, message);
        if !listed.insert(file.as_str()) {
            problems.push(problem(format!("{file} is here a second time")));
        }
        let Ok(text) = sources.text(file) else {
            problems.push(problem(format!("{file} is not there; mdBook would make an empty page")));
            continue;
        };
        let fragments = includes::reached(sources, file);
        shown.extend(images(file, text));
        for fragment in &fragments {
            shown.extend(images(fragment, sources.text(fragment).unwrap_or_default()));
        }
        shown.extend(fragments);
    }
    for (file, _) in sources.book() {
        let is_page = file.ends_with(".md") && !file[BOOK.len()..].contains('/');
        if [FILE, SITTINGS].contains(&file) || listed.contains(file) || shown.contains(file) {
            continue;
        }
        let message = if is_page {
            "SUMMARY.md does not name this page"
        } else {
            "no page includes or shows this file"
        };
        problems.push(Problem::new(file, 1, message));
    }
    problems
}

/// The image files of a text, in Markdown or HTML.
fn images(file: &str, text: &str) -> Vec<String> {
    let markdown = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let html = text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    markdown.chain(html).filter_map(|path| resolve(file, path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "# Summary\n\n[Book](a.md)\n\n- [First](b.md)\n- [00 Loop](c.md)\n\n# Appendix\n\n- [Words](d.md)\n";

    #[test]
    fn the_summary_is_read() {
        let kinds: Vec<Kind> = Summary::parse(SUMMARY).chapters.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, [Kind::Frame, Kind::First, Kind::Numbered, Kind::Appendix]);
        assert_eq!(Summary::parse(SUMMARY).chapters[2].html(), "c.html");
    }

    fn messages(summary: &str, texts: [(&str, &str); 3]) -> Vec<String> {
        check(&Summary::parse(summary), &Sources::from(texts))
            .iter()
            .map(Problem::to_string)
            .collect()
    }

    const TEXTS: [(&str, &str); 3] = [
        ("book/src/SUMMARY.md", ""),
        ("book/src/a.md", "![A bar](figures/bar.svg) {{#include output/a.txt}}"),
        ("book/src/figures/bar.svg", ""),
    ];

    #[test]
    fn pages_and_summary_agree() {
        assert!(messages("[A](a.md)", TEXTS).is_empty());
    }

    #[test]
    fn a_page_that_is_not_in_the_summary_is_found() {
        let found = messages("", TEXTS);
        assert_eq!(found[0], "book/src/a.md:1: SUMMARY.md does not name this page");
    }

    #[test]
    fn a_page_that_is_not_there_is_found() {
        let found = messages("[A](a.md)\n- [B](b.md)", TEXTS);
        assert!(found[0].starts_with("book/src/SUMMARY.md:2: book/src/b.md is not there"));
    }

    #[test]
    fn a_page_named_twice_is_found() {
        let found = messages("[A](a.md)\n- [B](a.md)", TEXTS);
        assert_eq!(found, ["book/src/SUMMARY.md:2: book/src/a.md is here a second time"]);
    }

    #[test]
    fn a_file_that_no_page_shows_is_found() {
        let mut texts = TEXTS;
        texts[1].1 = "text";
        let found = messages("[A](a.md)", texts);
        assert_eq!(found, ["book/src/figures/bar.svg:1: no page includes or shows this file"]);
    }
}
