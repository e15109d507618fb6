//! Runs the book in a browser: headless Chromium.

pub mod pages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use scraper::Html;

use super::figures::selector;

/// A script that finds what the eye would find wrong with a page.
pub const SEEN: &str = include_str!("seen.js");

/// The names of the executable.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub struct Chromium {
    program: PathBuf,
}

impl Chromium {
    pub fn find(given: Option<&Path>) -> Result<Self> {
        let starts = |program: &Path| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let mut programs =
            given.map_or_else(|| NAMES.map(PathBuf::from).to_vec(), |given| vec![given.to_owned()]);
        programs.retain(|program| starts(program));
        let program = programs.into_iter().next().with_context(|| match given {
            Some(given) => format!("{} does not start", given.display()),
            None => "no Chromium is installed; name one with --chromium".to_owned(),
        })?;
        Ok(Self { program })
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Opens a page in `folder`, waits for its scripts, and parses the JSON that they wrote into
    /// the element with the id `result`: what was found on each page that they opened.
    fn run(&self, folder: &Path, page: &str) -> Result<Vec<Vec<String>>> {
        let profile = tempfile::tempdir()?;
        let folder = fs::canonicalize(folder)?;
        let output = Command::new(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            // Pages in frames are files too, and share the storage of the theme.
            .arg("--allow-file-access-from-files")
            // Network requests fail, and the page reports them.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("--window-size=1400,1000")
            // In milliseconds of virtual time, which skips idle periods.
            .args(["--virtual-time-budget=36000000", "--dump-dom"])
            .arg(format!("file://{}/{page}", folder.display()))
            .output()?;
        let dom = Html::parse_document(&String::from_utf8_lossy(&output.stdout));
        let result = dom.select(&selector("#result")).next();
        let result = result.with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("{page} gave no result: {said}")
        })?;
        Ok(serde_json::from_str(&result.text().collect::<String>())?)
    }
}
