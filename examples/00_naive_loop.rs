//! The naive loop: at every step, the model reads everything from the start.
//!
//! cargo run --example 00_naive_loop -- --prompt "Once upon a time"

use std::process::ExitCode;

use clap::Parser;
use slowburn::generate;
use slowburn_examples::cli::{self, GenerateArgs, Report};

/// Writes a text with a loop that recomputes everything at every step
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse::<Cli>().generate))
}

fn run(args: &GenerateArgs) -> cli::Result<()> {
    let (pretrained, device) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return cli::score(args, &pretrained, &prompt);
    }

    let mut report = Report::start(args, &pretrained, &device, &prompt)?;
    let generation =
        generate::stream_text(generate::naive, &pretrained, &prompt, &args.options(), |text| {
            report.text(text)
        })?;
    report.finish(&generation)
}
