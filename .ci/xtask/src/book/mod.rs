//! `cargo xtask book`: builds the book, and checks its sources and its output.

mod browser;
mod built;
mod chapter;
mod commands;
mod figures;
mod includes;
mod links;
mod markdown;
mod measured;
pub mod problem;
mod prose;
mod reading_time;
mod readme;
mod sources;
mod summary;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::widget_data;
use problem::Problem;
use sources::Sources;
use summary::Summary;

#[derive(Args)]
pub struct BookArgs {
    /// Also open each page in a browser: layout and contrast
    #[arg(long)]
    browser: bool,
    /// The browser; by default the first of chromium, chromium-browser and google-chrome
    #[arg(long, env = "CHROMIUM", value_name = "PROGRAM")]
    chromium: Option<PathBuf>,
}

pub fn run(args: &BookArgs) -> Result<()> {
    let root = crate::root();
    let sources = Sources::read(root)?;
    let summary = Summary::parse(sources.text(summary::FILE)?);

    let mut problems = summary::check(&summary, &sources);
    problems.extend(includes::check(&sources));
    for (page, text) in sources.pages() {
        problems.extend(prose::check(page, text));
        problems.extend(links::check(page, text));
        problems.extend(measured::check(page, text, &sources));
        problems.extend(reading_time::check(page, text, &sources));
    }
    for (file, text) in sources.book() {
        problems.extend(figures::check(file, text));
    }
    for chapter in &summary.chapters {
        if let Ok(text) = sources.text(&chapter.file) {
            problems.extend(chapter::check(chapter, text));
        }
    }
    let targets = commands::Targets::of_workspace(root)?;
    for (page, text) in sources.pages() {
        problems.extend(commands::check(page, text, &targets));
    }
    let text = sources.text(readme::FILE)?;
    problems.extend(commands::check(readme::FILE, text, &targets));
    problems.extend(readme::check(text, &sources));
    problems.extend(widget_data::outdated(root)?);

    problems.extend(build(root)?);
    let folder = root.join("book/book");
    problems.extend(built::check(&folder, &summary)?);
    if args.browser {
        problems.extend(browser::check(args.chromium.as_deref(), &folder, &summary)?);
    } else {
        eprintln!("not checked: what a browser makes of the pages (--browser)");
    }
    problem::report(problems)
}

/// Builds the book. A warning of mdBook, such as a failed include, is a problem.
fn build(root: &Path) -> Result<Vec<Problem>> {
    let output = Command::new("mdbook")
        .args(["build", "book"])
        .current_dir(root)
        .output()
        .context("mdBook does not start; `cargo install mdbook` installs it")?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), "mdbook build: {said}");
    let warnings = said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR"));
    Ok(warnings
        .map(|line| Problem::new("book/book.toml", 1, format!("mdBook: {line}")))
        .collect())
}
