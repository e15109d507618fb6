//! Paged keys and values: block tables, and requests that share the blocks of a common prefix.
//!
//! cargo run --example 09_paged_kv
//! cargo run --example 09_paged_kv -- --compare

mod args;
mod comparison;
mod report;

use std::iter::zip;
use std::process::ExitCode;

use clap::Parser;
use slowburn::engine::EngineConfig;
use slowburn::generate::{Batch, Options};
use slowburn_examples::cli;

use args::PagedArgs;
use comparison::{Requests, paged_comparison};
use report::PagedReport;

/// New tokens of each timed request.
const ANSWER: usize = 4;

/// Writes several texts with one beginning, and shows which blocks they share
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    paged: PagedArgs,

    /// Time requests with and without the prefix cache, and measure the memory of many stories
    #[arg(long, conflicts_with_all = ["record", "block_report"])]
    compare: bool,
}

fn main() -> ExitCode {
    let Cli { paged, compare } = cli::parse();
    cli::exit(if compare {
        measure(&paged)
    } else {
        run(&paged)
    })
}

fn run(args: &PagedArgs) -> cli::Result<()> {
    let pretrained = args.load()?;
    let prompts = args.prompt_ids(&pretrained)?;
    let mut batch = Batch::with_config(&pretrained.model, args.config());
    batch.keep_record();
    let mut ids = Vec::new();
    for (prompt, options) in
        zip(&prompts, args.options(prompts.len(), args.max_tokens.unwrap_or(40)))
    {
        ids.push(batch.join(prompt, &options)?);
    }
    let mut report = PagedReport::start(args, &pretrained, &prompts, ids);
    while !batch.is_empty() {
        let events = batch.step();
        report.step(&mut batch, events)?;
    }
    report.finish()
}

fn measure(args: &PagedArgs) -> cli::Result<()> {
    let pretrained = args.load()?;
    let model = &pretrained.model;
    let prompts = args.long_prompts(&pretrained)?;
    let go_on = |options| Options { ignore_eos: true, ..options };
    let options: Vec<_> = args.options(prompts.len(), ANSWER).into_iter().map(go_on).collect();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        for (rounds, prefix_cache) in [(&mut without, false), (&mut with, true)] {
            let config = EngineConfig { prefix_cache, ..args.config() };
            rounds.push(Requests::run(model, config, &prompts, &options)?);
        }
    }

    let prompts = args.story_prompts(&pretrained)?;
    let options = args.options(prompts.len(), args.max_tokens.unwrap_or(400));
    let stories = Requests::run(model, args.config(), &prompts, &options)?;
    paged_comparison(args, &without, &with, &stories)
}
