//! Greedy decoding: always take the most likely token.
//!
//! cargo run --example 01_greedy
//! cargo run --example 01_greedy -- --prompt "The storm" --beams 4

mod report;

use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{self, BeamOptions, Options};
use slowburn::sampling::SamplingParams;
use slowburn_examples::cli::{self, GenerateArgs, whole};

use report::GreedyReport;

/// Shows what greedy decoding chooses from at each step, and whether it goes round in circles
#[derive(Parser)]
#[command(
    after_help = "The most likely token is taken whatever --temperature, --top-k, --top-p, \
    --min-p, --typical-p and --seed say. The penalties count: they change which one that is."
)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,

    /// Show the choices of the first N steps
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = whole::<usize>(..))]
    steps: usize,

    /// Also search for the most likely text with N beams
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    beams: Option<usize>,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse()))
}

fn run(cli: &Cli) -> cli::Result<()> {
    let args = &cli.generate;
    let (pretrained, _) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return cli::score(args, &pretrained, &prompt);
    }

    let sampling = SamplingParams { temperature: 0.0, ..args.sampling.typed() };
    let logprobs = Some(args.logprobs.unwrap_or(4));
    let options = Options { sampling, logprobs, ..args.options() };
    let greedy =
        generate::cached(&pretrained.model, &prompt, &options, &mut |_| ControlFlow::Continue(()))?;

    let beams = match cli.beams {
        None => Vec::new(),
        Some(width) => {
            let Options { max_tokens, ignore_eos, .. } = options;
            let options = BeamOptions { width, max_tokens, ignore_eos, ..BeamOptions::default() };
            generate::beam(&pretrained.model, &prompt, &options)?
        }
    };
    GreedyReport {
        args,
        tokenizer: &pretrained.tokenizer,
        prompt: &prompt,
        repetition: generate::repetition(&greedy.ids),
        greedy,
        shown: cli.steps,
        beams,
    }
    .print()
}
