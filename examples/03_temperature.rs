//! Temperature: how daring the choice is.
//!
//! cargo run --release --example 03_temperature
//! cargo run --release --example 03_temperature -- --temperatures 0.1,1,3 --seed 7

use std::process::ExitCode;

use clap::Parser;
use slowburn::Result;
use slowburn::cli::{self, GenerateArgs, Setting};
use slowburn::sampling::SamplingParams;

/// Shows what temperature does to the next token's distribution, and to the text
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,

    /// The values to compare; --temperature T shows only that one
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [0.2, 0.5, 0.8, 1.0, 1.5],
        value_name = "T,...",
        allow_negative_numbers = true
    )]
    temperatures: Vec<f32>,
}

fn main() -> ExitCode {
    cli::exit(run(&Cli::parse()))
}

// ANCHOR: run
fn run(cli: &Cli) -> Result<()> {
    let args = &cli.generate;
    let (pretrained, _) = args.load()?;
    let prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return cli::score(args, &pretrained, &prompt);
    }

    let logits = pretrained.model.forward(&prompt, None)?;
    let setting = |temperature| {
        let params = SamplingParams { temperature, ..args.sampling.typed() };
        let label = format!("T = {temperature}");
        Setting::new(label, params, args, &pretrained, &prompt, &logits)
    };
    let temperatures =
        args.sampling.temperature.map_or_else(|| cli.temperatures.clone(), |t| vec![t]);
    let settings = temperatures.into_iter().map(setting).collect::<Result<Vec<_>>>()?;
    cli::settings(args, &pretrained, &prompt, &logits, &settings)
}
// ANCHOR_END: run
