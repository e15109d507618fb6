//! `cargo xtask random-checkpoint`: a model folder with the shape of a published model and random
//! weights, to measure loading and speed without a download.

mod shape;
mod tokenizer;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use slowburn::device::Precision;

pub use shape::Shape;

#[derive(Args)]
pub struct RandomCheckpointArgs {
    /// Which model's shape
    #[arg(long, value_enum)]
    shape: Shape,
    /// Where to write config.json, model.safetensors and tokenizer.json
    #[arg(long)]
    out: PathBuf,
    /// How to store the weights
    #[arg(long, value_parser = slowburn_flags::precision(), default_value = "f32")]
    dtype: Precision,
    /// The same seed writes the same numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(args: &RandomCheckpointArgs) -> Result<()> {
    let bytes = write(args.shape, &args.out, args.dtype, args.seed)?;
    let numbers: usize = args.shape.tensors().iter().map(|tensor| tensor.len()).sum();
    eprintln!("{numbers} parameters, {bytes} bytes in {}", weights(&args.out).display());
    Ok(())
}

fn weights(folder: &Path) -> PathBuf {
    folder.join("model.safetensors")
}

/// Writes the folder, unless it is there.
pub fn write_missing(shape: Shape, out: &Path, dtype: Precision) -> Result<()> {
    if !weights(out).exists() {
        write(shape, out, dtype, 1)?;
    }
    Ok(())
}

/// Writes the folder. Returns the size of the weights' file in bytes.
pub fn write(shape: Shape, out: &Path, dtype: Precision, seed: u64) -> Result<u64> {
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let config = shape.config_json(match dtype {
        Precision::F32 => "float32",
        Precision::F16 => "float16",
        Precision::Bf16 => "bfloat16",
    });
    fs::write(out.join("config.json"), format!("{config:#}\n"))?;
    tokenizer::write(shape, &out.join("tokenizer.json"))?;
    writer::write(&shape.tensors(), dtype, seed, &weights(out))
}
