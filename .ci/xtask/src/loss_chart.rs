//! `cargo xtask loss-chart`: the loss curve of a training run, as a figure.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use slowburn_examples::chart::{self, LossPoint};

/// The log of the run that made the bundled model.
const BUNDLED: &str = include_str!("../../../models/ember/loss.csv");

#[derive(Args)]
pub struct LossChartArgs {
    /// Where the figure goes; its extension, .svg or .png, chooses the format
    out: PathBuf,
    /// The `loss.csv` of a run [default: that of the bundled model]
    #[arg(long)]
    log: Option<PathBuf>,
}

pub fn run(args: &LossChartArgs) -> Result<()> {
    let log = match &args.log {
        None => BUNDLED.to_owned(),
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?,
    };
    let points = LossPoint::read_csv(&log)?;
    chart::loss(&args.out, "Loss, as the model is trained", &points)?;
    Ok(())
}
