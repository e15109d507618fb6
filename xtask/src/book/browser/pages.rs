//! Each page as it is seen: on a wide and on a narrow screen, light and dark.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::super::problem::Problem;
use super::super::summary::Summary;
use super::{Chromium, page};

const WIDTHS: [usize; 2] = [1280, 390];
const THEMES: [&str; 2] = ["light", "navy"];

const PROBE: &str = include_str!("probe.js");
const HOST: &str = include_str!("host.js");

/// One page in one frame.
#[derive(Serialize)]
struct Visit {
    file: String,
    query: String,
    width: usize,
}

/// Opens every page of the built book in `folder`.
pub fn check(chromium: &Chromium, folder: &Path, summary: &Summary) -> Result<Vec<Problem>> {
    let copy = tempfile::tempdir()?;
    copy_folder(folder, copy.path())?;
    let pages = summary.chapters.iter().map(|entry| entry.html());
    let mut visits = Vec::new();
    for file in pages.chain(["print.html".to_owned()]) {
        let path = copy.path().join(&file);
        fs::write(&path, probed(&fs::read_to_string(&path)?)?)?;
        for (width, theme) in all(WIDTHS, THEMES) {
            visits.push(Visit { file: file.clone(), query: format!("theme={theme}"), width });
        }
    }
    // A picture that a page shows as an image has a document of its own, which no page can look
    // into: it is opened as a page. It brings its background, and knows no themes.
    let pictures = copy.path().join("figures");
    for entry in fs::read_dir(&pictures)? {
        let path = entry?.path();
        let svg = fs::read_to_string(&path)?;
        if !svg.contains("xmlns=") {
            continue;
        }
        let file = format!("figures/{}.html", path.file_stem().unwrap_or_default().display());
        let style = "body { margin: 0 } svg { width: 100%; height: auto }";
        let html = format!("<!DOCTYPE html><html><head><style>{style}</style></head><body>{svg}");
        fs::write(copy.path().join(&file), probed(&html)?)?;
        // A page has room for a picture of this width.
        for width in [750, 360] {
            visits.push(Visit {
                file: file.clone(),
                query: "figure&theme=light".to_owned(),
                width,
            });
        }
    }
    fs::write(copy.path().join("host.html"), page("visits", &visits, &[HOST])?)?;
    eprintln!("{} pages in {}", visits.len(), chromium.program.display());
    let found: Vec<Vec<String>> = chromium.run(copy.path(), "host.html")?;
    Ok(problems(&visits, &found))
}

/// The page with the probe in it, before anything else that runs.
fn probed(html: &str) -> Result<String> {
    let (before, after) = html.split_once("<head>").context("a page has a head")?;
    Ok(format!("{before}<head><script>\n{PROBE}</script>{after}"))
}

/// One problem for what was found in several visits.
fn problems(visits: &[Visit], found: &[Vec<String>]) -> Vec<Problem> {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (visit, messages) in visits.iter().zip(found) {
        for message in messages {
            let theme = visit.query.rsplit('=').next().unwrap_or_default();
            let place = format!("{} px {theme}", visit.width);
            places.entry((&visit.file, message)).or_default().push(place);
        }
    }
    places
        .into_iter()
        .map(|((file, message), places)| {
            let message = format!("{message} [{}]", places.join(", "));
            Problem::new(format!("book/book/{file}"), 1, message)
        })
        .collect()
}

fn all<const N: usize, const M: usize>(
    widths: [usize; N],
    themes: [&'static str; M],
) -> impl Iterator<Item = (usize, &'static str)> {
    widths.into_iter().flat_map(move |width| themes.map(|theme| (width, theme)))
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
