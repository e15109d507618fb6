//! `slowburn merge`: an adapter, made a part of its model.

use std::path::PathBuf;

use clap::Parser;
use slowburn::checkpoint;
use slowburn_examples::cli::Result;
use slowburn_flags::{Error, note};

/// Merges an adapter (LoRA) into its model
///
/// The new folder is a model like any other: it needs no adapter, and every program reads it. Its weights have the
/// types of the model's, to which the sums are rounded.
#[derive(Parser)]
pub struct Merge {
    /// The model: a folder with safetensors, not quantized
    #[arg(long, value_name = "DIR")]
    model: PathBuf,

    /// The adapter: a folder as PEFT writes it
    #[arg(long, value_name = "DIR")]
    lora: PathBuf,

    /// The folder to write, which must hold no model yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Merges an adapter into its model.
pub fn merge(Merge { model, lora, out }: &Merge) -> Result<()> {
    checkpoint::merge(model, lora, out).map_err(Error::from)?;
    note(&format!("The merged model is in {}.\n", out.display()));
    Ok(())
}
