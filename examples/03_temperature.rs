//! Temperature: how random the choice is.
//!
//! cargo run --example 03_temperature
//! cargo run --example 03_temperature -- --temperatures 0.1,1,3 --seed 7

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use slowburn::model::Input;
use slowburn::sampling::SamplingParams;
use slowburn_examples::cli::{self, Chart, GenerateArgs, Setting, of_sampler};

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
        allow_negative_numbers = true,
        value_parser = of_sampler(|p, n| p.temperature = n)
    )]
    temperatures: Vec<f32>,

    /// Draw the distributions (.svg, .png, or .gif to see them move; needs --features plot)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,

    /// Draw entropy against temperature (.svg or .png; needs --features plot)
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,
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

    let logits = pretrained.model.forward(&mut [Input::whole(&prompt)])?.remove(0);
    let params = args.sampling.typed();
    let setting = |&temperature: &f32| {
        let params = SamplingParams { temperature, ..params.clone() };
        let label = format!("T = {temperature}");
        Setting::new(label, params, args, &pretrained, &prompt, &logits)
    };
    let temperatures =
        args.sampling.temperature.map_or_else(|| cli.temperatures.clone(), |t| vec![t]);
    let settings = temperatures.iter().map(setting).collect::<cli::Result<Vec<_>>>()?;
    if let Some(file) = &cli.chart {
        let (logits, params, temperatures) = (&logits, &params, &temperatures);
        let chart = Chart::Temperatures { logits, params, temperatures };
        cli::draw(file, &chart, &pretrained, &prompt)?;
    }
    if let Some(file) = &cli.curve {
        let chart = Chart::Entropy { logits: &logits, params: &params };
        cli::draw(file, &chart, &pretrained, &prompt)?;
    }
    cli::settings(args, &pretrained, &prompt, &logits, &settings)
}
