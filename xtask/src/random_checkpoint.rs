//! `cargo xtask random-checkpoint`: a model folder with the shape of a published model and random
//! weights, to measure loading and speed without a download.

mod shape;
mod tokenizer;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

pub use shape::Shape;
pub use writer::StoredAs;

#[derive(Args)]
pub struct RandomCheckpointArgs {
    /// Which model's shape
    #[arg(long, value_enum)]
    shape: Shape,
    /// Where to write config.json, model.safetensors and tokenizer.json
    #[arg(long)]
    out: PathBuf,
    /// How to store the weights
    #[arg(long, value_enum, default_value_t = StoredAs::F32)]
    dtype: StoredAs,
    /// The same seed writes the same numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(args: &RandomCheckpointArgs) -> Result<()> {
    write(args.shape, &args.out, args.dtype, args.seed)
}

/// Writes the folder, and prints a summary.
pub fn write(shape: Shape, out: &Path, dtype: StoredAs, seed: u64) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let config = shape.config_json(dtype.name());
    fs::write(out.join("config.json"), format!("{config:#}\n"))?;
    tokenizer::write(shape, &out.join("tokenizer.json"))?;
    let tensors = shape.tensors();
    let path = out.join("model.safetensors");
    let bytes = writer::write(&tensors, dtype, seed, &path)?;
    let numbers: usize = tensors.iter().map(|tensor| tensor.len()).sum();
    eprintln!("{numbers} parameters, {bytes} bytes in {}", path.display());
    Ok(())
}
