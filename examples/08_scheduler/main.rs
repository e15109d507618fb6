//! The scheduler: which sequences take part in which step, as requests arrive over time.
//!
//! cargo run --example 08_scheduler
//! cargo run --example 08_scheduler -- --policy continuous-batch
//! cargo run --example 08_scheduler -- --compare

mod args;
mod figure;
mod policies;
mod timeline;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use slowburn::engine::{EngineConfig, Policy};
use slowburn::generate::Batch;
use slowburn::model::Model;
use slowburn_examples::cli;

use args::{ScheduleArgs, ScheduledRequest};
use figure::draw;
use policies::policies;
use timeline::{Timeline, timeline};

/// Shows which tokens of which requests each step computes
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    schedule: ScheduleArgs,

    /// Time all policies, the fastest of three runs each
    #[arg(long, conflicts_with_all = ["policy", "record", "block_report"])]
    compare: bool,

    /// Draw the timeline (.svg or .png; needs --features plot)
    #[arg(long, conflicts_with = "compare", value_name = "FILE")]
    chart: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli: Cli = cli::parse();
    cli::exit(if cli.compare {
        compare(&cli.schedule)
    } else {
        show(&cli)
    })
}

fn show(Cli { schedule: args, chart, .. }: &Cli) -> cli::Result<()> {
    let (pretrained, _) = args.batch.load()?;
    let requests = args.requests(&pretrained)?;
    let found = run(&pretrained.model, &requests, args.config())?;
    args.batch.record.write(found.record())?;
    if let Some(file) = chart {
        draw(file, &found)?;
    }
    timeline(args, &pretrained, &found)
}

fn run<'a>(
    model: &Model,
    requests: &'a [ScheduledRequest],
    config: EngineConfig,
) -> cli::Result<Timeline<'a>> {
    let mut batch = Batch::with_config(model, config);
    batch.keep_record();
    let mut timeline = Timeline::start(requests, config);
    while !timeline.is_over() {
        for place in timeline.arriving() {
            let ScheduledRequest { prompt, options, .. } = &requests[place];
            timeline.arrived(place, batch.join(prompt, options)?);
        }
        let events = batch.step();
        timeline.step(batch.take_record(), events)?;
    }
    Ok(timeline)
}

fn compare(args: &ScheduleArgs) -> cli::Result<()> {
    let (pretrained, _) = args.batch.load()?;
    let requests = args.requests(&pretrained)?;
    let fastest = |policy| {
        let config = EngineConfig { policy, ..args.config() };
        let once = |_| run(&pretrained.model, &requests, config);
        let runs = (0..3).map(once).collect::<cli::Result<Vec<_>>>()?;
        Ok(runs.into_iter().min_by_key(Timeline::time))
    };
    let timelines = Policy::ALL.into_iter().map(fastest).collect::<cli::Result<Vec<_>>>()?;
    policies(args, &timelines.into_iter().flatten().collect::<Vec<_>>())
}
