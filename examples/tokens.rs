//! Tokens: how a model sees a text.
//!
//! cargo run --release --example tokens
//! cargo run --release --example tokens -- --prompt "Any text at all 🙂"

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::IncrementalDecoder;
use slowburn_examples::cli::{self, DIM};

/// Cuts a text into tokens, and shows what each adds to the text that comes out again
#[derive(Parser)]
struct Cli {
    /// The text
    #[arg(
        long,
        default_value = "Tilly the otter found an 🍎 in Zanzibar.",
        value_name = "TEXT"
    )]
    prompt: String,

    /// A model folder as Hugging Face publishes it [default: the model inside this program]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse()))
}

fn run(args: &Cli) -> cli::Result<()> {
    let device = device::open(DeviceChoice::Auto)?;
    let Pretrained { tokenizer, .. } = match &args.model {
        None => Pretrained::bundled(&device, Precision::F32)?,
        Some(folder) => Pretrained::load(folder, &device, Precision::F32)?,
    };

    let ids = tokenizer.encode(&args.prompt)?;
    let mut decoder = IncrementalDecoder::after(&tokenizer, &[]);
    let mut table = format!("{:>6}  {:<16}adds to the text\n", "id", "token");
    for &id in &ids {
        let token = tokenizer.token(id).unwrap_or_default();
        let piece = decoder.push(id)?;
        let piece = match (piece.is_empty(), tokenizer.decode(&[id])?.is_empty()) {
            (false, _) => format!("{piece:?}"),
            (true, true) => format!("{DIM}a special token: no text{DIM:#}"),
            (true, false) => format!("{DIM}nothing yet{DIM:#}"),
        };
        let _ = writeln!(table, "{id:>6}  {token:<16}{piece}");
    }
    let _ = writeln!(
        table,
        "\n{} characters, {} bytes, {} tokens of a vocabulary of {}",
        args.prompt.chars().count(),
        args.prompt.len(),
        ids.len(),
        tokenizer.vocab_size()
    );
    let text = tokenizer.decode(&ids)?;
    cli::print(args.json, &json!({ "ids": ids, "text": text }), &table)
}
