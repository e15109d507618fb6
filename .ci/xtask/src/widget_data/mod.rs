//! `cargo xtask widget-data`: writes the figures that stand in the places of the widgets where these
//! cannot run, from the bundled model.

mod allowed;
mod open_distribution;
mod pictures;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::book::problem::Problem;
use crate::figures::same_but_for_rounding;
use open_distribution::OpenDistribution;

pub fn run() -> Result<()> {
    let root = crate::root();
    for (file, text) in generated()? {
        fs::write(root.join(file), text).with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

/// The files that differ from the output of [`run`].
pub fn outdated(root: &Path) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for (file, text) in generated()? {
        let kept = fs::read_to_string(root.join(file)).unwrap_or_default();
        if !same_but_for_rounding(&kept, &text) {
            problems.push(Problem::new(
                file,
                1,
                "differs from what `cargo xtask widget-data` writes",
            ));
        }
    }
    Ok(problems)
}

/// Every file by its path from the root.
fn generated() -> Result<Vec<(&'static str, String)>> {
    let distribution = OpenDistribution::of_bundled_model()?;
    Ok(vec![
        ("book/src/figures/widget-story.svg", pictures::story(&distribution)?),
        ("book/src/figures/widget-anatomy.svg", pictures::anatomy(&distribution)?),
        ("book/src/figures/widget-way.svg", pictures::way(&distribution)?),
        ("book/src/figures/widget-tokens.svg", pictures::tokens(&distribution)?),
        ("book/src/figures/widget-allowed.svg", allowed::picture(&distribution)?),
        ("book/src/figures/widget-greedy.svg", pictures::greedy(&distribution)?),
        ("book/src/figures/widget-top-k.svg", pictures::top_k(&distribution)?),
        ("book/src/figures/widget-temperature.svg", pictures::temperature(&distribution)?),
        ("book/src/figures/widget-nucleus.svg", pictures::nucleus(&distribution)?),
        ("book/src/figures/widget-formats.svg", pictures::formats()?),
        ("book/src/figures/widget-scheduler.svg", pictures::scheduler()),
        ("book/src/figures/widget-work.svg", pictures::work()),
        ("book/src/figures/widget-padding.svg", pictures::padding()),
    ])
}
