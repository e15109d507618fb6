//! `cargo xtask masks`: the token masks of regular expressions, for `tests/masks` to compare, and how
//! long they take, beside two other engines.

mod answer;
mod decode;
mod times;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use slowburn::constrained::Vocabulary;
use slowburn::tokenizer::Tokenizer;

use crate::bench::machine;

/// `times` walks the same texts twice with each engine: at the first pass most states are new, at the
/// second none is.
#[derive(Args)]
pub struct MasksArgs {
    /// What to do
    #[arg(value_enum)]
    what: What,
    /// A tokenizer.json
    #[arg(
        long,
        value_name = "FILE",
        default_value = "models/ember/tokenizer.json"
    )]
    tokenizer: PathBuf,
    /// The token that ends a text
    #[arg(long, value_name = "ID", default_value_t = 1)]
    end_id: u32,
    /// The Python that has the packages outlines_core, llguidance and numpy (with `times`)
    #[arg(long, default_value = "python3")]
    python: String,
    /// How many rounds are counted where speeds are compared (with `times`)
    #[arg(long, default_value_t = 11)]
    rounds: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Read lines of JSON, `{"regex": "...", "texts": [[ids], ...]}`, and answer each with the masks
    /// behind its texts, `{"masks": ["...", ...]}`, in hexadecimal: the bit of id *i* is bit *i* mod 8
    /// of byte *i* / 8
    Answer,
    /// Measure the masks of some expressions, and texts of the bundled model with a constraint
    Times,
}

pub fn run(args: &MasksArgs) -> Result<()> {
    match args.what {
        What::Answer => answer::run(vocabulary(args)?),
        What::Times => {
            ensure!(args.rounds >= 1, "nothing is measured in no round");
            times::run(args, &vocabulary(args)?)?;
            decode::run(args.rounds)?;
            println!("\n{}", machine::describe()?);
            Ok(())
        }
    }
}

/// The tokens of the tokenizer.
fn vocabulary(args: &MasksArgs) -> Result<Arc<Vocabulary>> {
    let file = &args.tokenizer;
    let json = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let tokenizer = Tokenizer::from_json(&json, &file.display().to_string())?;
    let size = tokenizer.largest_id().context("the tokenizer has no tokens")? as usize + 1;
    ensure!(
        (args.end_id as usize) < size,
        "of {size} tokens, none has the id {}",
        args.end_id
    );
    let bytes = |id| tokenizer.token_bytes(id);
    Ok(Arc::new(Vocabulary::new(size, bytes, vec![args.end_id])))
}
