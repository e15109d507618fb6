//! `tokens`, and `slowburn tokens`: how a model sees a text.

use std::fmt::Write;

use clap::Args;
use serde_json::json;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::storage::Storage;
use slowburn::tokenizer::IncrementalDecoder;
use slowburn_flags::Dtype;

use super::{DIM, ModelSource, Result, print};

/// The flags of the tokens of a text.
#[derive(Debug, Clone, Args)]
pub struct TokensArgs {
    /// The text
    #[arg(
        long,
        default_value = "Tilly the otter found an 🍎 in Zanzibar.",
        value_name = "TEXT"
    )]
    pub prompt: String,

    /// The model whose tokenizer it is: a folder as Hugging Face publishes it, a GGUF file or a model on
    /// the hub, ember or spark [default: ember]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<ModelSource>,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

/// Cuts a text into tokens, and shows what each adds to the text that comes out again.
///
/// # Errors
/// A model that cannot be loaded; a text without tokens of this model; a closed standard output.
pub fn tokens(args: &TokensArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Auto)?;
    let Pretrained { tokenizer, .. } = match &args.model {
        None => Pretrained::bundled(&device, Precision::F32)?,
        Some(source) => source.load(&device, Dtype::Auto, Storage::from)?,
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
    print(args.json, &json!({ "ids": ids, "text": text }), &table)
}
