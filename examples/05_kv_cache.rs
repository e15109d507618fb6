//! The KV cache: the same loop, but at every step the model reads only the new tokens.
//!
//! cargo run --release --example 05_kv_cache -- --prompt "Once upon a time"
//! cargo run --release --example 05_kv_cache -- --compare
//! cargo run --release --example 05_kv_cache -- --speculate lookup
//! cargo run --release --example 05_kv_cache -- --prompt "Was the fox sly? " --choice Yes --choice No
//! cargo run --release --example 05_kv_cache -- --prompt "Once upon a " --heal

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use clap::{ArgGroup, Parser};
use slowburn::generate::{self, Chosen, Loop, Options};
use slowburn::model::Model;
use slowburn_examples::cli::{self, ConstraintArgs, GenerateArgs, Report, SpeculateArgs};

/// Writes a text with a loop that remembers keys and values instead of recomputing them
#[derive(Parser)]
#[command(group(ArgGroup::new("task").args(["score", "compare", "speculate"])))]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,

    #[command(flatten)]
    speculate: SpeculateArgs,

    #[command(flatten)]
    constraint: ConstraintArgs,

    /// Let the text begin with the prompt's last token, or with a longer one: token healing
    #[arg(long, conflicts_with_all = ["score", "compare", "json_schema", "lark"])]
    heal: bool,

    /// Time both loops over 32, 64, 128, 256 and 480 new tokens
    #[arg(
        long,
        conflicts_with_all = [
            "regex", "choice", "json_schema", "lark", "draft", "draft_tokens", "block_report"
        ]
    )]
    compare: bool,
}

fn main() -> ExitCode {
    let cli: Cli = cli::parse();
    cli::exit(if cli.compare {
        compare(&cli.generate)
    } else {
        run(&cli)
    })
}

fn run(Cli { generate: args, speculate, constraint, heal, .. }: &Cli) -> cli::Result<()> {
    let (pretrained, device) = args.load()?;
    let mut prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return cli::score(args, &pretrained, &prompt);
    }

    let (pretrained, speculation) = speculate.speculation(&args.model, pretrained)?;
    let mut constraint = constraint.constraint(&pretrained)?;
    if *heal {
        constraint = pretrained.heal(&mut prompt, constraint.as_ref())?.or(constraint);
    }
    let mut report = Report::start(args, &pretrained, &device, &prompt)?;
    let options = Options { constraint, ..args.options() };
    let on_text = |text: &str| report.text(text);
    let generation = match speculation {
        None => generate::stream_text(generate::cached, &pretrained, &prompt, &options, on_text)?,
        Some(speculation) => {
            let mut speculator = speculation.start(&pretrained.model)?;
            let guess_ahead =
                |model: &_, prompt: &_, options: &_, on_token: &mut dyn FnMut(&Chosen<'_>) -> _| {
                    generate::speculated(model, &mut speculator, prompt, options, on_token)
                };
            generate::stream_text(guess_ahead, &pretrained, &prompt, &options, on_text)?
        }
    };
    report.finish(&generation)
}

fn compare(args: &GenerateArgs) -> cli::Result<()> {
    let (pretrained, _) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    let mut rows = Vec::new();
    for max_tokens in [32, 64, 128, 256, 480] {
        let options = Options { max_tokens, ignore_eos: true, ..args.options() };
        let naive = tokens_per_second(generate::naive, &pretrained.model, &prompt, &options)?;
        let cached = tokens_per_second(generate::cached, &pretrained.model, &prompt, &options)?;
        rows.push((max_tokens, naive, cached));
    }
    cli::comparison(args, &rows)
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
