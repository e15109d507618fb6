//! Checks that every picture has a text alternative, letters of the page's size, and a legend for its
//! colours.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};

use super::problem::Problem;

/// The classes of `book/figures.css` that have a colour.
const COLOURS: [&str; 5] = ["new", "prefill", "kept", "shared", "chosen"];
/// The smallest letters of a figure, in units of its `viewBox`.
const EM: f64 = 12.0;

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
        if picture.value().classes().any(|class| class == "fig") {
            let width = attribute("viewBox").split(' ').nth(2).and_then(|width| width.parse().ok());
            problems.extend(width.and_then(|width: f64| {
                let em = width / EM;
                let style = attribute("style").strip_prefix("max-width:");
                let said = style.and_then(|style| style.strip_suffix("em")?.parse::<f64>().ok());
                let is_right = said.is_some_and(|said| (said - em).abs() < 0.1);
                (!is_right).then(|| {
                    problem(&format!("this figure is not `max-width:{em:.1}em`, by which its letters are as large as the page's"))
                })
            }));
            problems.extend(unexplained(&picture).map(|class| {
                problem(&format!("the colour `{class}` is not in the legend, `<g class=\"key\">`"))
            }));
        }
    }
    problems
}

/// The colours of a figure that its legend does not have.
fn unexplained(picture: &ElementRef<'_>) -> impl Iterator<Item = &'static str> + use<> {
    let classes = |selector: &Selector| -> BTreeSet<String> {
        let elements = picture.select(selector);
        elements.flat_map(|element| element.value().classes().map(str::to_owned)).collect()
    };
    let used = classes(&selector("rect, circle, path, ellipse, polygon"));
    let key = classes(&selector(".key *"));
    COLOURS.into_iter().filter(move |&class| used.contains(class) && !key.contains(class))
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
    fn a_figure_with_small_letters_is_found() {
        let figure = |width: &str| {
            GOOD.replace(
                "<svg viewBox=\"0 0 9 9\"",
                &format!("<svg class=\"fig\" viewBox=\"0 0 440 90\" style=\"max-width:{width}\""),
            )
        };
        assert!(messages(&figure("36.67em")).is_empty());
        assert!(messages(&figure("520px"))[0].contains("is not `max-width:36.7em`"));
    }

    #[test]
    fn a_colour_without_a_legend_is_found() {
        let figure = |key: &str| {
            format!(
                "<svg class=\"fig\" viewBox=\"0 0 12 9\" role=\"img\" style=\"max-width:1em\"><title>A</title>\
                 <rect class=\"new\"/><rect class=\"box\"/>{key}</svg>"
            )
        };
        assert!(messages(&figure("<g class=\"key\"><rect class=\"new\"/></g>")).is_empty());
        assert!(messages(&figure("<g class=\"key\"></g>"))[0].contains("the colour `new`"));
    }

    #[test]
    fn a_picture_that_cannot_shrink_is_found() {
        assert!(messages(&GOOD.replace("viewBox", "data-box"))[0].contains("no viewBox"));
    }
}
