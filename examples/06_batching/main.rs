//! Batching: several prompts in one running batch, each with the text that it has alone.
//!
//! cargo run --example 06_batching -- --prompt "Once upon a time" --prompt "The storm"
//! cargo run --example 06_batching -- --compare

mod report;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use slowburn::generate::{self, Options};
use slowburn_examples::cli::{self, BatchArgs, ConstraintArgs, SpeculateArgs};

use report::{BatchReport, BatchSize, batch_sizes, draw};

/// Writes several texts at once, and shows what that costs
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    batch: BatchArgs,

    #[command(flatten)]
    speculate: SpeculateArgs,

    #[command(flatten)]
    constraint: ConstraintArgs,

    /// Time batches of 1, 2, 4, 8 and 16 sequences, the fastest of three runs each
    #[arg(
        long,
        conflicts_with_all = [
            "record", "speculate", "draft", "draft_tokens", "regex", "choice", "json_schema", "lark",
            "block_report"
        ]
    )]
    compare: bool,

    /// Draw the results of --compare (.svg or .png; needs --features plot)
    #[arg(long, requires = "compare", value_name = "FILE")]
    chart: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli: Cli = cli::parse();
    cli::exit(if cli.compare {
        compare(&cli)
    } else {
        run(&cli)
    })
}

fn run(Cli { batch: args, speculate, constraint, .. }: &Cli) -> cli::Result<()> {
    let (pretrained, _) = args.load()?;
    let (pretrained, speculation) = speculate.speculation(&args.model, pretrained)?;
    let prompts = args.prompt_ids(&pretrained)?;
    let constraint = constraint.constraint(&pretrained)?;
    let under = |options| Options { constraint: constraint.clone(), ..options };
    let options: Vec<_> = args.options(prompts.len()).into_iter().map(under).collect();

    let mut report = BatchReport::start(args, &pretrained, &prompts, &options);
    let mut batch = args.batch(&pretrained.model);
    batch.set_speculation(speculation);
    let generations = batch.run(&prompts, &options, &mut |place, _| {
        report.token(place);
        ControlFlow::Continue(())
    })?;
    report.finish(&mut batch, &generations)
}

fn compare(Cli { batch: args, chart, .. }: &Cli) -> cli::Result<()> {
    if let Some(file) = chart {
        cli::check_chart(file)?;
    }
    let (pretrained, _) = args.load()?;
    let prompts = args.prompt_ids(&pretrained)?;
    let mut rows = Vec::new();
    for sequences in [1, 2, 4, 8, 16] {
        let prompts: Vec<_> = prompts.iter().cycle().take(sequences).cloned().collect();
        let go_on = |options| Options { ignore_eos: true, ..options };
        let options: Vec<_> = args.options(sequences).into_iter().map(go_on).collect();
        let time_one = |_| {
            let start = Instant::now();
            let found = generate::batched(&pretrained.model, &prompts, &options, &mut |_, _| {
                ControlFlow::Continue(())
            })?;
            Ok(BatchSize {
                sequences,
                tokens: found.iter().map(|found| found.ids.len()).sum(),
                steps: found.iter().map(|found| found.ids.len()).max().unwrap_or(0),
                time: start.elapsed(),
                kv_cache_bytes: found.iter().map(|found| found.kv_cache_bytes).sum(),
            })
        };
        let runs = (0..3).map(time_one).collect::<cli::Result<Vec<_>>>()?;
        rows.extend(runs.into_iter().min_by_key(|run| run.time));
    }
    if let Some(file) = chart {
        draw(file, &rows)?;
    }
    batch_sizes(args, &rows)
}
