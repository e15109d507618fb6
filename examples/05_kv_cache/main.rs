//! The KV cache: the same loop, but at every step the model reads only the new tokens.
//!
//! cargo run --example 05_kv_cache -- --prompt "Once upon a time"
//! cargo run --example 05_kv_cache -- --compare
//! cargo run --example 05_kv_cache -- --speculate lookup
//! cargo run --example 05_kv_cache -- --prompt "Was the fox sly? " --choice Yes --choice No
//! cargo run --example 05_kv_cache -- --prompt "Once upon a " --heal

mod comparison;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use slowburn::generate::{self, Loop, Options};
use slowburn::model::Model;
use slowburn_examples::cli::{self, GenerateArgs, StoryArgs};

use comparison::comparison;

/// Writes a text with a loop that remembers keys and values instead of recomputing them
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    story: StoryArgs,

    /// Time both loops over 32, 64, 128, 256 and 480 new tokens
    #[arg(
        long,
        conflicts_with_all = [
            "score", "speculate", "heal", "regex", "choice", "json_schema", "lark", "draft",
            "draft_tokens", "block_report"
        ]
    )]
    compare: bool,
}

fn main() -> ExitCode {
    let Cli { story, compare } = cli::parse();
    cli::exit(if compare {
        measure(&story.generate)
    } else {
        story.generate.load().and_then(|loaded| cli::story(&story, loaded))
    })
}

fn measure(args: &GenerateArgs) -> cli::Result<()> {
    let (pretrained, _) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    let mut rows = Vec::new();
    for max_tokens in [32, 64, 128, 256, 480] {
        let options = Options { max_tokens, ignore_eos: true, ..args.options() };
        let naive = tokens_per_second(generate::naive, &pretrained.model, &prompt, &options)?;
        let cached = tokens_per_second(generate::cached, &pretrained.model, &prompt, &options)?;
        rows.push((max_tokens, naive, cached));
    }
    comparison(args, &rows)
}

/// Prefill included: a loop is judged by all that it does.
fn tokens_per_second(
    generate: Loop,
    model: &Model,
    prompt: &[u32],
    options: &Options,
) -> cli::Result<f64> {
    let start = Instant::now();
    let generation = generate(model, prompt, options, &mut |_| ControlFlow::Continue(()))?;
    Ok(generation.ids.len() as f64 / start.elapsed().as_secs_f64())
}
