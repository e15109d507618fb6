//! `cargo xtask train` without the feature `train`: runs a build with the feature.

use std::ffi::OsString;

use anyhow::{Context, Result};
use clap::Args;
use exercises_runner::cargo::cargo;

// All options and `--help` are passed on to that build.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct TrainArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    args: Vec<OsString>,
}

pub fn run(args: &TrainArgs) -> Result<()> {
    let mut features = vec!["train"];
    if cfg!(feature = "cuda") {
        features.push("cuda");
    }
    if cfg!(feature = "ndarray") {
        features.push("ndarray");
    }
    // A separate target folder, because Windows locks a running executable.
    let status = cargo()
        .args([
            "run",
            "--profile",
            "train",
            "--target-dir",
            "target/train",
            "--package",
            "xtask",
        ])
        .args(["--features", &features.join(",")])
        .args(["--", "train"])
        .args(&args.args)
        .status()
        .context("cannot start cargo")?;
    std::process::exit(status.code().unwrap_or(1));
}
