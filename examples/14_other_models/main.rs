//! What other models change: layers as data, windows, experts, and the frequencies of RoPE.
//!
//! cargo run --example 14_other_models
//! cargo run --example 14_other_models -- --part layers --config path/to/config.json
//! cargo run --example 14_other_models -- --part windows --measure
//! cargo run --example 14_other_models -- --part experts --measure

mod experts;
mod figure;
mod layers;
mod report;
mod ropes;
mod shapes;
mod sizes;
mod times;
mod windows;

use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{Batch, Options};
use slowburn::kernels::trace::{self, Call};
use slowburn::model::{Input, Model};
use slowburn_examples::cli;

use experts::ExpertsRun;
use report::{OtherModelsArgs, OtherModelsReport, Part, check};
use shapes::{Mixture, WindowPattern};
use windows::WindowStep;

/// Shows what the layers of other models do, and what windows and experts cost
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: OtherModelsArgs,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse::<Cli>().args))
}

fn run(args: &OtherModelsArgs) -> cli::Result<()> {
    args.check_figure()?;
    let mut report = OtherModelsReport::new(args);
    for part in args.parts() {
        match part {
            Part::Layers => report.layers()?,
            Part::Windows => {
                report.begin_windows()?;
                let run = |pattern: WindowPattern| {
                    let model = pattern.model(args.window)?;
                    Ok((pattern, long_text(&model, args.tokens)?))
                };
                let runs = WindowPattern::ALL.into_iter().map(run);
                report.windows(runs.collect::<cli::Result<_>>()?)?;
            }
            Part::Experts => {
                for mixture in Mixture::ALL {
                    report.begin_experts(mixture)?;
                    report.experts(experts(mixture, args.texts)?)?;
                }
                report.expert_times()?;
            }
            Part::Rope => report.ropes()?,
        }
    }
    report.finish()
}

/// Writes a long text, and looks after each step at what it has read and what it holds.
fn long_text(model: &Model, tokens: usize) -> cli::Result<Vec<WindowStep>> {
    let options = Options {
        // The last token is not read any more.
        max_tokens: tokens.saturating_add(1),
        ignore_eos: true,
        ..Options::default()
    };
    let mut batch = Batch::new(model);
    let id = batch.join(&[0], &options)?;
    let mut steps = Vec::new();
    while !batch.is_empty() {
        let (events, calls) = trace::record(|| batch.step());
        check(events)?;
        steps.extend(WindowStep::of(&batch, id, &calls));
    }
    Ok(steps)
}

/// Counts the experts that the last tokens of texts take, and what steps of several batches read.
fn experts(mixture: Mixture, texts: usize) -> cli::Result<ExpertsRun> {
    let [model, same_work, same_size] = mixture.models()?;
    let texts = Mixture::texts(texts);
    let mut run = ExpertsRun::new(mixture);
    for text in &texts {
        run.routed(&model.routing(text)?);
    }
    for size in Mixture::BATCH_SIZES {
        let batch = &texts[..size];
        run.decoded(
            size,
            [
                decode_step(&model, batch)?,
                decode_step(&same_work, batch)?,
                decode_step(&same_size, batch)?,
            ],
        );
    }
    Ok(run)
}

/// Reads all texts but their last tokens, and records the step that reads these.
fn decode_step(model: &Model, texts: &[Vec<u32>]) -> cli::Result<Vec<Call>> {
    let mut caches = Vec::new();
    for text in texts {
        let mut cache = model.new_cache(text.len())?;
        model.forward(&mut [Input::after(&mut cache, &text[..text.len() - 1])])?;
        caches.push(cache);
    }
    let mut inputs = Vec::new();
    for (cache, text) in caches.iter_mut().zip(texts) {
        inputs.push(Input::after(cache, &text[text.len() - 1..]));
    }
    let (logits, calls) = trace::record(|| model.forward(&mut inputs));
    logits?;
    Ok(calls)
}
