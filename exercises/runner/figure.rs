//! The figure of the engine's parts, with the learner's marked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const FIGURE: &str = "book/src/figures/engine-parts.svg";
const STYLE: &str = "book/figures.css";
const MARKED: &str = "target/engine-parts.svg";

/// Not by colour alone.
const YOURS: &str =
    ".fig .yours { fill: var(--chosen); font-weight: 700; text-decoration: underline; }";

/// Writes the figure of the book, with these exercises marked, and says where it is.
pub fn write(root: &Path, yours: &[&str]) -> Result<PathBuf> {
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))
    };
    let mut figure =
        read(FIGURE)?.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    for name in yours {
        figure = figure.replace(
            &format!("<tspan data-part=\"{name}\""),
            &format!("<tspan class=\"yours\" data-part=\"{name}\""),
        );
    }
    let style = format!("<style>\n{}\n{YOURS}\n</style>\n</svg>", read(STYLE)?);
    let marked = root.join(MARKED);
    fs::create_dir_all(root.join("target"))?;
    fs::write(&marked, figure.replacen("</svg>", &style, 1))
        .with_context(|| format!("cannot write {MARKED}"))?;
    Ok(MARKED.into())
}
