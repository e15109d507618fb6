//! Checks that every picture has a text alternative.

use scraper::{ElementRef, Html, Selector};

use super::problem::Problem;

/// Checks the SVG files and the SVG elements in a text.
pub fn check(file: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let starts: Vec<usize> = text.match_indices("<svg").map(|(offset, _)| offset).collect();
    let (svg, title) = (selector("svg"), selector("title"));
    let page = Html::parse_fragment(text);
    for (picture, start) in page.select(&svg).zip(starts) {
        let problem = |message: &str| Problem::at(file, text, start, message);
        let attribute = |name| picture.value().attr(name).unwrap_or_default();
        if attribute("aria-hidden") == "true" {
            continue;
        }
        if attribute("role") != "img" {
            problems.push(problem("this SVG has no role=\"img\""));
        }
        let is_titled = picture.select(&title).any(|title| !said(&title).is_empty());
        if !is_titled && attribute("aria-label").is_empty() {
            problems.push(problem("this SVG has no <title> that says what it shows"));
        }
        if attribute("viewBox").is_empty() {
            problems.push(problem("this SVG has no viewBox, and cannot be made smaller"));
        }
    }
    problems
}

fn said(element: &ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

/// Parses a constant, and so valid, selector.
pub fn selector(css: &'static str) -> Selector {
    Selector::parse(css).expect("a selector")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "<svg viewBox=\"0 0 9 9\" role=\"img\"><title>A box</title><rect width=\"9\"/></svg>";

    fn messages(text: &str) -> Vec<String> {
        check("a.svg", text).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_picture_with_a_title_is_right() {
        assert!(messages(GOOD).is_empty());
        assert!(messages("<svg aria-hidden=\"true\"></svg>").is_empty());
    }

    #[test]
    fn a_picture_without_a_title_is_found() {
        let found = messages(&format!("{GOOD}\n{}", GOOD.replace("A box", "")));
        assert_eq!(found, ["a.svg:2: this SVG has no <title> that says what it shows"]);
    }

    #[test]
    fn a_picture_without_a_role_is_found() {
        let found = messages(&GOOD.replace(" role=\"img\"", ""));
        assert_eq!(found, ["a.svg:1: this SVG has no role=\"img\""]);
    }

    #[test]
    fn a_picture_that_cannot_shrink_is_found() {
        assert!(messages(&GOOD.replace("viewBox", "data-box"))[0].contains("no viewBox"));
    }
}
