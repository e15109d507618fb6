//! A chart as a part of a page: in the page's type, and in colours that follow its theme.
//!
//! A chart that a command writes is a file of its own, with a light panel behind it and a font by name.
//! On a page the panel would be a bright box in the dark themes.

use anyhow::{Context, Result};

/// The colours of `slowburn_examples::chart`, and what `book/figures.css` has for each.
const COLOURS: [(&str, &str); 13] = [
    ("#222222", "currentColor"),
    (MUTED, "currentColor"),
    ("#000000", "currentColor"),
    ("#777777", "var(--axis)"),
    ("#E2E0DA", "var(--grid)"),
    ("#C4C2BB", "var(--removed)"),
    ("#FFFFFF", "var(--inside)"),
    ("#0072B2", "var(--kept)"),
    ("#D55E00", "var(--new)"),
    ("#009E73", "var(--chosen)"),
    ("#CC79A7", "var(--series-4)"),
    ("#E69F00", "var(--series-5)"),
    ("#56B4E9", "var(--series-6)"),
];

/// The colour of small text. Bars that have it are many, and would be too heavy in that of the text.
const MUTED: &str = "#555555";

/// The colour behind a chart.
const PANEL: &str = "#FCFBF8";

/// The units of a chart in an em of the page, on which its text is as large as the page's.
const EM: f64 = 13.7;

/// The chart in `svg` as an element of a page. One that is already comes back as it is.
pub fn chart(svg: &str) -> Result<String> {
    let (root, content) = svg.split_once('>').context("a chart has a root element")?;
    let root = if root.contains("xmlns=") {
        let attribute = |name: &str| {
            let (_, after) = root.split_once(&format!(" {name}=\""))?;
            after.split_once('"').map(|(value, _)| value)
        };
        let width: f64 = attribute("width").context("a chart has a width")?.parse()?;
        let view = attribute("viewBox").context("a chart has a viewBox")?;
        let em = width / EM;
        format!(
            "<svg class=\"chart\" viewBox=\"{view}\" role=\"img\" style=\"max-width:{em:.1}em\""
        )
    } else {
        root.to_owned()
    };
    let is_shown = |line: &&str| !line.trim().is_empty() && !line.contains(PANEL);
    let lines: Vec<String> = content.lines().filter(is_shown).map(line).collect();
    Ok(format!("{root}>\n{}\n", lines.join("\n")))
}

/// A line without the font, and without colours that do not follow the theme.
fn line(line: &str) -> String {
    let mut line = line.replace(" opacity=\"1\"", "");
    if let Some((before, after)) = line.split_once(" font-family=\"")
        && let Some((_, after)) = after.split_once('"')
    {
        line = format!("{before}{after}");
    }
    if line.starts_with("<rect ") {
        line = line.replace(&format!("=\"{MUTED}\""), "=\"var(--axis)\"");
    }
    for (colour, name) in COLOURS {
        line = line.replace(&format!("=\"{colour}\""), &format!("=\"{name}\""));
    }
    line
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const CHART: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"100\" \
        viewBox=\"0 0 4800 1000\" role=\"img\">\n<title>A chart</title>\n\
        <rect width=\"4800\" height=\"1000\" rx=\"80\" fill=\"#FCFBF8\"/>\n\n\
        <text x=\"1\" font-family=\"Noto Sans, sans-serif\" font-size=\"180\" opacity=\"1\" fill=\"#222222\">\n\
        #222222\n</text>\n<circle fill=\"#D55E00\" stroke=\"#0072B2\"/>\n</svg>\n";

    #[test]
    fn a_chart_on_a_page_has_no_panel_no_font_and_no_colour_of_its_own() {
        let found = chart(CHART).unwrap();
        let expected = "<svg class=\"chart\" viewBox=\"0 0 4800 1000\" role=\"img\" \
            style=\"max-width:35.0em\">\n<title>A chart</title>\n\
            <text x=\"1\" font-size=\"180\" fill=\"currentColor\">\n#222222\n</text>\n\
            <circle fill=\"var(--new)\" stroke=\"var(--kept)\"/>\n</svg>\n";
        assert_eq!(found, expected);
        assert_eq!(chart(&found).unwrap(), found);
        assert!(chart("no chart").is_err());
    }

    #[test]
    fn every_figure_of_the_book_follows_the_theme() {
        let folder = crate::root().join("book/src/figures");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let svg = fs::read_to_string(&path).unwrap();
            let fixed = ["fill", "stroke"].map(|of| svg.matches(&format!("{of}=\"#")).count());
            assert_eq!(fixed, [0, 0], "colours that no theme changes: {}", path.display());
            assert!(!svg.contains("font-family="), "{}", path.display());
        }
    }
}
