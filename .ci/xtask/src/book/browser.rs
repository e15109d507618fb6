//! Renders each page on wide and narrow screens, in light and dark themes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::problem::Problem;
use super::summary::Summary;
use crate::browser::{Browser, Look, SEEN};

const WIDTHS: [u32; 2] = [1280, 390];
const THEMES: [&str; 2] = ["light", "navy"];

const PROBE: &str = include_str!("browser/probe.js");

/// One page in one window.
struct Visit {
    file: String,
    theme: &'static str,
    width: u32,
}

/// Opens every page of the built book in `folder`.
pub fn check(chromium: Option<&Path>, folder: &Path, summary: &Summary) -> Result<Vec<Problem>> {
    let pages = summary.chapters.iter().map(|entry| entry.html());
    let (mut visits, mut images) = (Vec::new(), Vec::new());
    for file in pages.chain(["print.html".to_owned()]) {
        for width in WIDTHS {
            for theme in THEMES {
                visits.push(Visit { file: file.clone(), theme, width });
            }
        }
    }
    // An image is a document of its own, which a page cannot inspect, so it is opened as a page. It
    // has its own background and no themes.
    let copy = tempfile::tempdir()?;
    fs::create_dir(copy.path().join("figures"))?;
    for entry in fs::read_dir(folder.join("figures"))? {
        let path = entry?.path();
        let svg = fs::read_to_string(&path)?;
        if !svg.contains("xmlns=") {
            continue;
        }
        let file = format!("figures/{}.html", path.file_stem().unwrap_or_default().display());
        let style = "body { margin: 0 } svg { width: 100%; height: auto }";
        let html = format!("<!DOCTYPE html><html><head><style>{style}</style></head><body>{svg}");
        fs::write(copy.path().join(&file), html)?;
        // An image is shown at the width of the text, or at a fixed width on a phone, where it
        // scrolls.
        images.extend([750, 600].map(|width| Visit { file: file.clone(), theme: "", width }));
    }
    eprintln!("{} pages and images in a browser", visits.len() + images.len());
    let mut browser = Browser::start(chromium)?;
    let mut problems = visit(&mut browser, folder, &visits)?;
    problems.extend(visit(&mut browser, copy.path(), &images)?);
    Ok(problems)
}

/// Opens pages in `folder` with the probe.
fn visit(browser: &mut Browser, folder: &Path, visits: &[Visit]) -> Result<Vec<Problem>> {
    let folder = fs::canonicalize(folder)?;
    let mut found: Vec<Vec<String>> = Vec::new();
    for Visit { file, theme, width } in visits {
        let url = format!("file://{}/{file}?theme={theme}", folder.display());
        let look = Look { width: *width, ..Look::DESK };
        if found.is_empty() {
            browser.open_with(&url, look, &format!("{SEEN}{PROBE}"))?;
        } else {
            // A new tab takes longer than a page.
            browser.look(look)?;
            browser.go(&url)?;
        }
        found.push(browser.get("found").with_context(|| file.clone())?);
    }
    Ok(problems(visits, &found))
}

/// One problem for equal findings of several visits.
fn problems(visits: &[Visit], found: &[Vec<String>]) -> Vec<Problem> {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (visit, messages) in visits.iter().zip(found) {
        for message in messages {
            let place = format!("{} px {}", visit.width, visit.theme);
            places.entry((&visit.file, message)).or_default().push(place);
        }
    }
    places
        .into_iter()
        .map(|((file, message), places)| {
            let message = format!("{message} [{}]", places.join(", "));
            let file = match file.strip_prefix("figures/") {
                Some(_) => format!("book/src/{}", file.replace(".html", ".svg")),
                None => format!("book/book/{file}"),
            };
            Problem::new(file, 1, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probe's findings in pages with the given bodies.
    fn found(browser: &mut Browser, width: u32, bodies: &[String]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let visits: Vec<Visit> = (0..bodies.len())
            .map(|i| Visit { file: format!("{i}.html"), theme: "light", width })
            .collect();
        for (body, visit) in bodies.iter().zip(&visits) {
            let html = format!(
                "<!DOCTYPE html><html class=\"light\"><head></head><body><main>{body}</main></body>"
            );
            fs::write(folder.path().join(&visit.file), html).expect("a file");
        }
        let problems = visit(browser, folder.path(), &visits).expect("a result");
        let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
        let of = |visit: &Visit| {
            let file = format!("book/book/{}:", visit.file);
            let found = problems.iter().filter(|problem| problem.starts_with(&file));
            found.cloned().collect::<Vec<_>>().join("\n")
        };
        visits.iter().map(of).collect()
    }

    #[test]
    fn what_a_reader_would_see_is_found() {
        let Ok(mut browser) = Browser::start(None) else {
            eprintln!("not checked: there is no Chromium");
            return;
        };
        let svg = |inside: &str| format!("<svg width=\"90\" viewBox=\"0 0 90 90\">{inside}</svg>");
        let widget = |inside: &str, script: &str| {
            format!(
                "<div class=\"widget\" data-widget=\"w\">{inside}</div><script>{script}</script>"
            )
        };
        let figure = format!("{}<p>A slider.</p>", svg(""));
        let right = [
            "<p>Text</p>".to_owned(),
            "<div style=\"overflow-x: auto\"><p style=\"width: 900px\">Text</p></div>".to_owned(),
            "<p style=\"color: #999; font-size: 10px; display: none\">Text</p>".to_owned(),
            svg("<rect width=\"90\" height=\"90\"/><text y=\"20\" fill=\"#fff\">Text</text>"),
            widget(&figure, ""),
        ];
        for (html, found) in right.iter().zip(found(&mut browser, 390, &right)) {
            assert_eq!(found, "", "{html}");
        }
        let wrong = [
            ("<p style=\"width: 900px\">Text</p>".to_owned(), "scrolls sideways"),
            (
                "<div style=\"overflow-x: hidden\"><p style=\"width: 900px\">Text</p></div>"
                    .to_owned(),
                "is cut off",
            ),
            ("<p style=\"color: #888\">Text</p>".to_owned(), "contrast 3.54, needs 4.5"),
            ("<p style=\"opacity: 0.4\">Text</p>".to_owned(), "needs 4.5"),
            ("<h1 style=\"font-size: 30px; color: #999\">T</h1>".to_owned(), "needs 3"),
            (
                svg("<rect width=\"90\" height=\"90\"/><text y=\"20\">T</text>"),
                "contrast 1.00",
            ),
            (svg("<text y=\"20\" font-size=\"5\">T</text>"), "letters of 5.0 px"),
            ("<img src=\"none.png\" alt=\"None\">".to_owned(), "no image"),
            (
                "<script src=\"https://burn.dev/a.js\"></script>".to_owned(),
                "does not load: a.js",
            ),
            ("<script>console.error('oh')</script>".to_owned(), "console: oh"),
            ("<script>none()</script>".to_owned(), "none is not defined"),
            (widget("<p>A slider.</p>", ""), "the widget w has lost its figure"),
            (
                widget(&figure, "document.querySelector('.widget').dataset.mounted = '';"),
                "the widget w has begun",
            ),
        ];
        let (wrong, expected): (Vec<String>, Vec<&str>) = wrong.into_iter().unzip();
        for (i, found) in found(&mut browser, 390, &wrong).iter().enumerate() {
            assert!(found.contains(expected[i]), "{}: {found}", wrong[i]);
        }
    }

    #[test]
    fn what_is_wide_has_its_room_on_a_wide_screen_and_a_sign_on_a_narrow_one() {
        let Ok(mut browser) = Browser::start(None) else {
            eprintln!("not checked: there is no Chromium");
            return;
        };
        let listing = |length: usize, style: &str| {
            let style = format!("display: block; overflow-x: auto; {style}");
            format!("<pre><code style=\"{style}\">{}</code></pre>", "x".repeat(length))
        };
        let text = |width: usize| {
            let text = "A line of some words. ".repeat(25);
            let style = format!("width: {width}px; font: 16px/20px sans-serif");
            format!("<p style=\"{style}\">{text}</p>").repeat(5)
        };
        let figure = |width: usize| {
            let style = "font-size: 12px";
            format!(
                "<figure><svg width=\"{width}\" viewBox=\"0 0 90 90\"><text y=\"20\" style=\"{style}\">T\
                 </text></svg></figure>"
            )
        };
        let shadow = "background-image: linear-gradient(red, blue)";
        let wide = [
            (listing(90, ""), ""),
            (listing(300, shadow), "is wider than its box"),
            (text(520), ""),
            (text(1000), "letters in a line of text"),
            (figure(130), ""),
            (figure(90), "letters of 12.0 px beside text of 16 px"),
        ];
        let narrow = [
            (listing(300, shadow), ""),
            (listing(300, ""), "scrolls without a sign"),
        ];
        for (width, pages) in [(1280, &wide[..]), (390, &narrow[..])] {
            let bodies: Vec<String> = pages.iter().map(|(body, _)| body.clone()).collect();
            for ((body, expected), found) in pages.iter().zip(found(&mut browser, width, &bodies)) {
                let is_right = if expected.is_empty() {
                    found.is_empty()
                } else {
                    found.contains(expected)
                };
                assert!(is_right, "{width} px, {body}: {found}");
            }
        }
    }
}
