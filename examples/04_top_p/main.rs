//! Top-p: choose among the nucleus, the likeliest tokens that together reach p. The nucleus is small
//! where the model is sure, and large where many tokens are possible.
//!
//! cargo run --example 04_top_p
//! cargo run --example 04_top_p -- --top-p 0.5 --top-k 5 --seed 7

mod report;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{self, Options};
use slowburn::sampling::{Sampler, SamplingParams, statistics};
use slowburn_examples::cli::{self, GenerateArgs};

use report::{NucleusReport, NucleusStep};

/// Shows how many tokens survive top-p at each step, beside top-k
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,

    /// Draw the size of the nucleus at each step (.svg or .png; needs --features plot)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
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

    // Top-k is here for comparison: the text is drawn with top-p.
    let (p, k) = (args.sampling.top_p.unwrap_or(0.95), args.sampling.top_k.unwrap_or(10));
    let params = SamplingParams { top_p: Some(p), top_k: None, ..args.sampling.typed() };
    let sampler = Sampler::new(&params)?;
    let options = Options {
        sampling: params,
        max_tokens: args.max_tokens.unwrap_or(48),
        ..args.options()
    };

    let (mut ids, mut steps, mut failure) = (Vec::new(), Vec::new(), None::<slowburn::Error>);
    let generation = generate::cached(&pretrained.model, &prompt, &options, &mut |chosen| {
        let id = chosen.token.token_id;
        match sampler.distribution(chosen.logits, &prompt, &ids) {
            Ok(nucleus) => steps.push(NucleusStep {
                id,
                nucleus: statistics::survivors(&nucleus),
                probability: nucleus[id as usize],
            }),
            Err(error) => failure = Some(error),
        }
        ids.push(id);
        ControlFlow::Continue(())
    })?;
    failure.map_or(Ok(()), Err)?;
    let (pretrained, prompt) = (&pretrained, &prompt);
    let report = NucleusReport { args, pretrained, prompt, p, k, generation, steps };
    if let Some(file) = &cli.chart {
        report.draw(file)?;
    }
    report.print()
}
