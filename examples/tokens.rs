//! Tokens: how a model sees a text.
//!
//! cargo run --example tokens
//! cargo run --example tokens -- --prompt "Any text at all 🙂"

use std::process::ExitCode;

use clap::Parser;
use slowburn_examples::cli::{self, TokensArgs};

/// Cuts a text into tokens, and shows what each adds to the text that comes out again
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    tokens: TokensArgs,
}

fn main() -> ExitCode {
    let Cli { tokens } = cli::parse();
    cli::exit(cli::tokens(&tokens))
}
