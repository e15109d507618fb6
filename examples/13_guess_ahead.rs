//! Guess ahead: draft tokens from the text so far, which the model checks in one pass.
//!
//! cargo run --release --example 13_guess_ahead
//! cargo run --release --example 13_guess_ahead -- --prompt "The storm" --steps 20
//! cargo run --release --example 13_guess_ahead -- --temperature 0.8 --draft-tokens 4

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use slowburn::generate::{self, Options};
use slowburn::model::Model;
use slowburn::speculation::{DraftLength, PromptLookup, Speculator};
use slowburn_examples::cli::{self, GuessArgs, GuessReport, GuessedText, Timed, Watched};

/// Writes texts with and without draft tokens: the same tokens in fewer passes
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    guess: GuessArgs,
}

fn main() -> ExitCode {
    cli::exit(run(&Cli::parse().guess))
}

// ANCHOR: run
fn run(args: &GuessArgs) -> cli::Result<()> {
    let (pretrained, _) = args.generate.load()?;
    let options = args.options();
    let mut report = GuessReport::new(args, &pretrained);
    for text in args.texts(&pretrained)? {
        let prompt = &text.prompt;
        // Once to look at the steps, and several times for the clock, in turns.
        let watched = Watched::new(PromptLookup::default());
        let steps = watched.steps();
        let length = DraftLength::adaptive(args.draft_tokens);
        let speculator = Speculator::new(watched, length);
        let watched = guess_ahead(&pretrained.model, prompt, &options, speculator)?.generation;

        let (mut plain, mut guessed) = (Vec::new(), Vec::new());
        for _ in 0..args.rounds {
            plain.push(decode(&pretrained.model, prompt, &options)?);
            let length = DraftLength::adaptive(args.draft_tokens);
            let speculator = Speculator::new(PromptLookup::default(), length);
            guessed.push(guess_ahead(&pretrained.model, prompt, &options, speculator)?);
        }
        report.add(GuessedText { text, steps: steps.take(), watched, plain, guessed });
    }
    report.finish()
}
// ANCHOR_END: run

// ANCHOR: decode
fn decode(model: &Model, prompt: &[u32], options: &Options) -> cli::Result<Timed> {
    let start = Instant::now();
    let generation = generate::cached(model, prompt, options, &mut |_| ControlFlow::Continue(()))?;
    Ok(Timed { generation, time: start.elapsed() })
}

fn guess_ahead(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    mut speculator: Speculator,
) -> cli::Result<Timed> {
    let start = Instant::now();
    let generation = generate::speculated(model, &mut speculator, prompt, options, &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(Timed { generation, time: start.elapsed() })
}
// ANCHOR_END: decode
