//! Checks that every include names an existing file and anchor, and that every anchor is used.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::sources::{BOOK, Sources, resolve};

/// An `include` of mdBook.
pub struct Include<'a> {
    /// The offset in bytes.
    pub offset: usize,
    /// The path as written, relative to the including file.
    pub path: &'a str,
    pub anchor: Option<&'a str>,
}

/// The includes in a text. An include after a backslash is literal text.
pub fn includes(text: &str) -> impl Iterator<Item = Include<'_>> {
    text.match_indices("{{#").filter_map(|(offset, _)| {
        if text[..offset].ends_with('\\') {
            return None;
        }
        let inside = text[offset + 3..].split_once("}}")?.0;
        let (kind, rest) = inside.split_once(char::is_whitespace)?;
        if !["include", "rustdoc_include", "playground"].contains(&kind) {
            return None;
        }
        let named = rest.split_whitespace().next()?;
        let (path, anchor) = match named.split_once(':') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (named, None),
        };
        Some(Include { offset, path, anchor })
    })
}

/// A line that begins or ends an anchor.
struct Mark<'a> {
    name: &'a str,
    offset: usize,
    ends: bool,
}

pub fn check(sources: &Sources) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut shown = BTreeSet::new();
    for (file, text) in sources.book() {
        for include in includes(text) {
            let problem = |message: String| Problem::at(file, text, include.offset, message);
            let Some(path) = resolve(file, include.path).filter(|path| sources.has(path)) else {
                problems.push(problem(format!("includes {}, which is not there", include.path)));
                continue;
            };
            let Some(anchor) = include.anchor else {
                if sources.text(&path).is_ok_and(|text| text.trim().is_empty()) {
                    problems.push(problem(format!("includes {}, which is empty", include.path)));
                }
                continue;
            };
            if anchor.starts_with(|c: char| c.is_ascii_digit() || c == ':') {
                let message = "includes lines by number, which move: name an anchor";
                problems.push(problem(message.to_owned()));
            } else if !sources.text(&path).is_ok_and(|code| has_anchor(code, anchor)) {
                problems.push(problem(format!("there is no anchor `{anchor}` in {path}")));
            }
            shown.insert((path, anchor.to_owned()));
        }
    }
    for (file, text) in sources.code() {
        problems.extend(check_marks(file, text));
        for mark in marks(text).filter(|mark| !mark.ends) {
            if !shown.contains(&(file.to_owned(), mark.name.to_owned())) {
                let message = format!("no page shows the anchor `{}`", mark.name);
                problems.push(Problem::at(file, text, mark.offset, message));
            }
        }
    }
    problems
}

/// The files that a page includes, directly or indirectly, without the page itself.
pub fn reached(sources: &Sources, page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![page.to_owned()];
    while let Some(file) = open.pop() {
        let Ok(text) = sources.text(&file) else {
            continue;
        };
        for path in includes(text).filter_map(|include| resolve(&file, include.path)) {
            if path.starts_with(BOOK) && found.insert(path.clone()) {
                open.push(path);
            }
        }
    }
    found
}

/// The lines of an anchor, or all lines where none is named.
pub fn anchored<'a>(code: &'a str, anchor: Option<&str>) -> &'a str {
    let Some(name) = anchor else {
        return code;
    };
    let offset = |ends| {
        let found = marks(code).find(|mark| mark.ends == ends && mark.name == name);
        found.map(|mark| mark.offset)
    };
    match (offset(false), offset(true)) {
        (Some(start), Some(end)) if start < end => &code[start..end],
        _ => "",
    }
}

fn has_anchor(code: &str, name: &str) -> bool {
    marks(code).any(|mark| !mark.ends && mark.name == name)
}

/// Checks that every anchor has one beginning, and one end after it.
fn check_marks(file: &str, text: &str) -> Vec<Problem> {
    let marks: Vec<Mark> = marks(text).collect();
    let mut problems = Vec::new();
    for (i, mark) in marks.iter().enumerate() {
        let same = |other: &&Mark| other.ends == mark.ends && other.name == mark.name;
        let other_end = |other: &&Mark| other.ends != mark.ends && other.name == mark.name;
        let (before, after) = (&marks[..i], &marks[i + 1..]);
        let message = if before.iter().any(|other| same(&other)) {
            "stands here a second time"
        } else if !mark.ends && !after.iter().any(|other| other_end(&other)) {
            "has no end"
        } else if mark.ends && !before.iter().any(|other| other_end(&other)) {
            "ends and did not begin"
        } else {
            continue;
        };
        let message = format!("the anchor `{}` {message}", mark.name);
        problems.push(Problem::at(file, text, mark.offset, message));
    }
    problems
}

/// The anchor marks in code: comments with no other content.
fn marks(code: &str) -> impl Iterator<Item = Mark<'_>> {
    let mut start = 0;
    code.split_inclusive('\n').filter_map(move |line| {
        let offset = start;
        start += line.len();
        let line = line.trim();
        let comment = ["//", "#", "<!--"].iter().find_map(|mark| line.strip_prefix(mark))?;
        let comment = comment.trim();
        let (name, ends) = match comment.strip_prefix("ANCHOR:") {
            Some(name) => (name, false),
            None => (comment.strip_prefix("ANCHOR_END:")?, true),
        };
        let name = name.split_whitespace().next()?;
        Some(Mark { name, offset, ends })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(page: &str, code: &str) -> Vec<String> {
        let sources = Sources::from([("book/src/a.md", page), ("src/lib.rs", code)]);
        check(&sources).iter().map(Problem::to_string).collect()
    }

    const CODE: &str = "// ANCHOR: one\nfn one() {}\n// ANCHOR_END: one\n";
    const PAGE: &str = "Text\n{{#include ../../src/lib.rs:one}}\n";

    #[test]
    fn what_is_there_and_shown_is_right() {
        assert!(messages(PAGE, CODE).is_empty());
        assert!(messages(&PAGE.replace("include", "rustdoc_include"), CODE).is_empty());
    }

    #[test]
    fn a_missing_file_is_found() {
        let page = format!("{PAGE}{{{{#include output/none.txt}}}}");
        let found = "book/src/a.md:3: includes output/none.txt, which is not there";
        assert_eq!(messages(&page, CODE), [found]);
        assert!(
            messages(&page.replace("{{#include output", "\\{{#include output"), CODE).is_empty()
        );
    }

    #[test]
    fn an_empty_file_is_found() {
        let page = ("book/src/a.md", "{{#include answers/a.md}}");
        let found = |answer| {
            let sources = Sources::from([page, ("book/src/answers/a.md", answer)]);
            check(&sources).iter().map(Problem::to_string).collect::<Vec<_>>()
        };
        assert!(found("Yes.").is_empty());
        assert_eq!(found("\n"), ["book/src/a.md:1: includes answers/a.md, which is empty"]);
    }

    #[test]
    fn a_missing_anchor_is_found() {
        let page = format!("{PAGE}{{{{#include ../../src/lib.rs:two}}}}");
        let found = "book/src/a.md:3: there is no anchor `two` in src/lib.rs";
        assert_eq!(messages(&page, CODE), [found]);
    }

    #[test]
    fn lines_by_number_are_found() {
        let page = format!("{PAGE}{{{{#include ../../src/lib.rs:1:2}}}}");
        assert!(messages(&page, CODE)[0].contains("by number"));
    }

    #[test]
    fn an_anchor_that_no_page_shows_is_found() {
        assert_eq!(messages("Text", CODE), ["src/lib.rs:1: no page shows the anchor `one`"]);
    }

    #[test]
    fn a_beginning_without_an_end_is_found() {
        let code = CODE.replace("// ANCHOR_END: one\n", "");
        assert_eq!(messages(PAGE, &code), ["src/lib.rs:1: the anchor `one` has no end"]);
    }

    #[test]
    fn an_end_without_a_beginning_is_found() {
        let code = format!("{CODE}// ANCHOR_END: two\n");
        assert_eq!(
            messages(PAGE, &code),
            ["src/lib.rs:4: the anchor `two` ends and did not begin"]
        );
    }

    #[test]
    fn two_anchors_of_one_name_are_found() {
        let found = messages(PAGE, &CODE.repeat(2));
        assert_eq!(found[0], "src/lib.rs:4: the anchor `one` stands here a second time");
    }

    #[test]
    fn includes_are_followed() {
        let sources = Sources::from([
            ("book/src/a.md", "{{#include widgets/b.html}}"),
            ("book/src/widgets/b.html", "{{#include ../figures/c.svg}}"),
            ("book/src/figures/c.svg", ""),
            ("book/src/figures/d.svg", ""),
        ]);
        let reached = reached(&sources, "book/src/a.md");
        assert_eq!(
            reached.iter().collect::<Vec<_>>(),
            ["book/src/figures/c.svg", "book/src/widgets/b.html"]
        );
    }
}
