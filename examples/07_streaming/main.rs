//! Streaming: four ways to use a model that answers in a thread of its own.
//!
//! cargo run --example 07_streaming -- --prompt "Once upon a time"

mod columns;
mod uses;

use std::process::ExitCode;

use clap::Parser;
use slowburn::inference::{GenerateRequest, Inference, InferenceBuilder, Job, streaming_handler};
use slowburn_examples::cli::{self, GenerateArgs};

use columns::Columns;
use uses::Uses;

/// Streams a text, collects one, cancels one, and writes three at once
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse::<Cli>().generate))
}

fn run(args: &GenerateArgs) -> cli::Result<()> {
    let (pretrained, _) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return cli::score(args, &pretrained, &prompt);
    }
    let request = args.request(prompt, 60)?;
    let mut uses = Uses::new(args, &pretrained.model);
    // ANCHOR: run
    let inference = InferenceBuilder::new()
        .with_model(pretrained)
        .with_chunk(args.chunk)
        .build(streaming_handler)?;
    inference.warm_up()?;
    // ANCHOR_END: run

    stream(&inference, request.clone(), &mut uses)?;
    collect(&inference, request.clone(), &mut uses)?;
    cancel(&inference, request.clone(), &mut uses)?;
    several(&inference, &request, &mut uses)?;
    uses.finish()
}

// ANCHOR: stream
fn stream(inference: &Inference, request: GenerateRequest, uses: &mut Uses) -> cli::Result<()> {
    uses.begin("stream", "Each token as it comes")?;
    let job = inference.infer(request).spawn();
    for token in &job.stream {
        uses.show(token)?;
    }
    uses.end(&job.join()?)
}
// ANCHOR_END: stream

// ANCHOR: collect
fn collect(inference: &Inference, request: GenerateRequest, uses: &mut Uses) -> cli::Result<()> {
    uses.begin("collect", "The same, all at once")?;
    let collected = inference.infer(request).run()?;
    uses.show_all(collected.outputs)?;
    uses.end(&collected.completions[0])
}
// ANCHOR_END: collect

// ANCHOR: cancel
fn cancel(inference: &Inference, request: GenerateRequest, uses: &mut Uses) -> cli::Result<()> {
    uses.begin("cancel", "The same, cancelled after 10 tokens")?;
    let job = inference.infer(request).spawn();
    uses.show_all(job.stream.iter().take(10))?;
    job.cancel();
    uses.end(&job.join()?)
}
// ANCHOR_END: cancel

// ANCHOR: several
fn several(inference: &Inference, request: &GenerateRequest, uses: &mut Uses) -> cli::Result<()> {
    uses.begin("several", "Three at once, each with a seed of its own")?;
    let seeds = [0, 1, 2].map(|n| request.sampling.seed.wrapping_add(n));
    let jobs = seeds.map(|seed| inference.infer(request.clone().with_seed(seed)).spawn());
    let texts = Columns::new(jobs.len(), uses.is_shown()).read(&jobs)?;
    uses.end_several(&texts, jobs.into_iter().map(Job::join))
}
// ANCHOR_END: several
