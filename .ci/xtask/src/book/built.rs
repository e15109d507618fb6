//! Checks the book as built by mdBook: links, images, and resources that a browser would load.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use scraper::{ElementRef, Html};

use super::figures::selector;
use super::problem::Problem;
use super::sources::resolve;
use super::summary::Summary;

/// The folder of the built book, from the root.
const FOLDER: &str = "book/book/";

/// The built pages by path, and all files.
#[derive(Default)]
struct Built {
    pages: BTreeMap<String, Page>,
    files: BTreeSet<String>,
}

struct Page {
    text: String,
    html: Html,
    ids: BTreeSet<String>,
}

impl Page {
    fn new(text: String) -> Self {
        let html = Html::parse_document(&text);
        let elements = html.root_element().descendent_elements();
        let ids = elements.filter_map(|element| element.value().id().map(str::to_owned)).collect();
        Self { text, html, ids }
    }
}

pub fn check(folder: &Path, summary: &Summary) -> Result<Vec<Problem>> {
    let mut built = Built { files: files(folder, "")?, ..Built::default() };
    let chapters = summary.chapters.iter().map(|entry| entry.html());
    for path in chapters.chain(["index.html", "print.html"].map(str::to_owned)) {
        let text = fs::read_to_string(folder.join(&path))
            .with_context(|| format!("mdBook has not written {path}"))?;
        built.pages.insert(path, Page::new(text));
    }
    let mut problems = built.check();
    for path in built.files.iter().filter(|path| path.ends_with(".css")) {
        let text = fs::read_to_string(folder.join(path))?;
        problems.extend(check_style(&format!("{FOLDER}{path}"), &text));
    }
    Ok(problems)
}

/// All files under a folder, by relative path.
fn files(folder: &Path, prefix: &str) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path(), &format!("{path}/"))?);
        } else {
            found.insert(path);
        }
    }
    Ok(found)
}

impl Built {
    fn check(&self) -> Vec<Problem> {
        let pages = self.pages.iter();
        pages.flat_map(|(path, page)| self.check_page(path, page)).collect()
    }

    fn check_page(&self, path: &str, page: &Page) -> Vec<Problem> {
        let mut problems = Vec::new();
        let file = format!("{FOLDER}{path}");
        let problem = |needle: &str, message: String| {
            let offset = page.text.find(needle).unwrap_or(0);
            Problem::at(&file, &page.text, offset, message)
        };
        for element in page.html.root_element().descendent_elements() {
            let name = element.value().name();
            for (attribute, value) in element.value().attrs() {
                let loads = loads(name, attribute);
                let is_link = name == "a" && attribute == "href";
                if !loads && !is_link {
                    continue;
                }
                let needle = format!("\"{value}\"");
                if is_outside(value) {
                    if loads {
                        let message = format!("<{name}> loads {value}, which is not in the book");
                        problems.push(problem(&needle, message));
                    }
                } else if let Some(fault) = self.fault(path, value) {
                    problems.push(problem(&needle, format!("<{name}> {fault}")));
                }
            }
            if name == "img" && element.value().attr("alt").unwrap_or_default().trim().is_empty() {
                let source = element.value().attr("src").unwrap_or_default();
                let message = format!("the image {source} has no alt text");
                problems.push(problem(&format!("\"{source}\""), message));
            }
        }
        for widget in page.html.select(&selector(".widget")) {
            let name = widget.value().attr("data-widget").unwrap_or_default();
            if !has_fallback(&widget) {
                let message = format!("the widget `{name}` has no figure and sentence inside");
                problems.push(problem(&format!("data-widget=\"{name}\""), message));
            }
        }
        for style in page.html.select(&selector("style")) {
            let text: String = style.text().collect();
            let found = check_style(&file, &text).into_iter().next();
            problems
                .extend(found.map(|_| problem("<style", "a <style> loads from outside".into())));
        }
        problems
    }

    /// The problem with a link within the book, if any.
    fn fault(&self, page: &str, link: &str) -> Option<String> {
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, anchor),
            None => (link, ""),
        };
        let target = match path {
            "" => page.to_owned(),
            path => resolve(page, path)?,
        };
        if !self.files.contains(&target) && !self.pages.contains_key(&target) {
            return Some(format!("leads to {link}, which is not in the built book"));
        }
        let page = self.pages.get(&target)?;
        let is_there = anchor.is_empty() || page.ids.contains(anchor);
        (!is_there).then(|| format!("leads to {link}, and {target} has no such place"))
    }
}

/// Whether a browser loads the address in this attribute automatically.
fn loads(element: &str, attribute: &str) -> bool {
    match attribute {
        "src" | "srcset" | "poster" | "data" => element != "a",
        "href" => ["link", "image", "use", "base"].contains(&element),
        _ => false,
    }
}

/// Whether an address is outside the book.
fn is_outside(address: &str) -> bool {
    let has_scheme = address.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    });
    has_scheme && !address.starts_with("data:") || address.starts_with("//")
}

/// Whether a widget has content to show without JavaScript.
fn has_fallback(widget: &ElementRef<'_>) -> bool {
    let (picture, sentence) = (selector("svg, img"), selector("p"));
    let says = |p: ElementRef<'_>| !p.text().collect::<String>().trim().is_empty();
    widget.select(&picture).next().is_some() && widget.select(&sentence).any(says)
}

/// Reports a style sheet that loads from outside the book.
fn check_style(file: &str, text: &str) -> Vec<Problem> {
    let loads = text.match_indices("url(").chain(text.match_indices("@import"));
    loads
        .map(|(offset, found)| (offset, offset + found.len()))
        .filter(|&(_, end)| is_outside(text[end..].trim_start().trim_start_matches(['"', '\''])))
        .map(|(offset, _)| Problem::at(file, text, offset, "loads from outside the book"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(html: &str) -> Vec<String> {
        let other = "<h2 id=\"there\">There</h2>";
        let built = Built {
            pages: [("a.html", html), ("b.html", other)]
                .map(|(path, text)| (path.to_owned(), Page::new(text.to_owned())))
                .into(),
            files: ["figures/x.svg".to_owned()].into(),
        };
        built.check().iter().map(Problem::to_string).collect()
    }

    #[test]
    fn what_is_there_is_right() {
        let html = "<p id=\"here\"><a href=\"#here\">a</a> <a href=\"b.html#there\">b</a> \
                    <a href=\"https://burn.dev\">c</a> <img src=\"figures/x.svg\" alt=\"X\">";
        assert!(messages(html).is_empty());
    }

    #[test]
    fn a_broken_link_is_found() {
        let found = messages("<p>\n<a href=\"c.html\">c</a>");
        assert_eq!(
            found,
            ["book/book/a.html:2: <a> leads to c.html, which is not in the built book"]
        );
    }

    #[test]
    fn a_broken_anchor_is_found() {
        assert!(messages("<a href=\"#here\">a</a>")[0].contains("a.html has no such place"));
        assert!(messages("<a href=\"b.html#here\">a</a>")[0].contains("b.html has no such place"));
    }

    #[test]
    fn a_broken_image_is_found() {
        assert!(messages("<img src=\"figures/y.svg\" alt=\"Y\">")[0].contains("figures/y.svg"));
    }

    #[test]
    fn an_image_without_words_is_found() {
        assert!(messages("<img src=\"figures/x.svg\" alt=\"\">")[0].contains("has no alt text"));
    }

    #[test]
    fn what_is_loaded_from_outside_is_found() {
        for html in [
            "<script src=\"https://x.org/a.js\"></script>",
            "<link href=\"//x.org/a.css\">",
            "<img src=\"http://x.org/a.png\" alt=\"A\">",
        ] {
            assert!(messages(html)[0].contains("which is not in the book"), "{html}");
        }
        assert!(messages("<style>a{b:url('https://x.org/c')}</style>")[0].contains("<style>"));
        let found = check_style("a.css", "a{}\n@import \"https://x.org/a.css\"; b{c:url(d.png)}");
        assert_eq!(found, [Problem::new("a.css", 2, "loads from outside the book")]);
    }

    #[test]
    fn a_widget_without_a_fallback_is_found() {
        let good = "<div class=\"widget\" data-widget=\"w\"><svg></svg><p>A slider.</p></div>";
        assert!(messages(good).is_empty());
        for bad in [
            good.replace("A slider.", ""),
            good.replace("<svg></svg>", ""),
        ] {
            assert!(messages(&bad)[0].contains("the widget `w` has no figure"));
        }
    }
}
