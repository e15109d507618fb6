//! Guess ahead: draft tokens from the text so far, which the model checks in one pass.
//!
//! cargo run --example 13_guess_ahead
//! cargo run --example 13_guess_ahead -- --prompt "The storm" --steps 20
//! cargo run --example 13_guess_ahead -- --temperature 0.8 --draft-tokens 4
//! cargo run --example 13_guess_ahead -- --acceptance

mod acceptance;
mod report;

use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{self, Chosen, Options};
use slowburn::model::Model;
use slowburn::speculation::{DraftLength, PromptLookup, Speculator};
use slowburn_examples::cli;

use acceptance::acceptance;
use report::{DecodeClock, GuessArgs, GuessReport, GuessedText, Timed, Watched};

/// Writes texts with and without draft tokens: the same tokens in fewer passes
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    guess: GuessArgs,
}

fn main() -> ExitCode {
    let args = cli::parse::<Cli>().guess;
    cli::exit(if args.generate.score {
        cli::score_prompt(&args.generate)
    } else if args.acceptance {
        acceptance(&args)
    } else {
        run(&args)
    })
}

fn run(args: &GuessArgs) -> cli::Result<()> {
    let (pretrained, _) = args.generate.load()?;
    let options = args.options();
    let hashed = Options { hash_logits: true, ..options.clone() };
    let mut report = GuessReport::new(args, &pretrained)?;
    for text in args.texts(&pretrained)? {
        let prompt = &text.prompt;
        // Once to look at the steps, and several times for the clock, in turns.
        let watched = Watched::new(PromptLookup::default());
        let steps = watched.steps();
        let length = DraftLength::adaptive(args.draft_tokens);
        let speculator = Speculator::new(watched, length);
        let watched =
            guess_ahead(&pretrained.model, prompt, &hashed, speculator)?.into_generation();
        let reference = decode(&pretrained.model, prompt, &hashed)?.into_generation();

        let (mut plain, mut guessed) = (Vec::new(), Vec::new());
        for _ in 0..args.rounds {
            plain.push(decode(&pretrained.model, prompt, &options)?);
            let length = DraftLength::adaptive(args.draft_tokens);
            let speculator = Speculator::new(PromptLookup::default(), length);
            guessed.push(guess_ahead(&pretrained.model, prompt, &options, speculator)?);
        }
        report.add(GuessedText {
            text,
            steps: steps.take(),
            watched,
            reference,
            plain,
            guessed,
        });
    }
    report.finish()
}

fn decode(model: &Model, prompt: &[u32], options: &Options) -> cli::Result<Timed> {
    let mut clock = DecodeClock::default();
    let generation = generate::cached(model, prompt, options, &mut |_| clock.token())?;
    Ok(clock.stop(generation))
}

fn guess_ahead(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    mut speculator: Speculator,
) -> cli::Result<Timed> {
    let mut clock = DecodeClock::default();
    let on_token = &mut |_: &Chosen<'_>| clock.token();
    let generation = generate::speculated(model, &mut speculator, prompt, options, on_token)?;
    Ok(clock.stop(generation))
}
