//! Top-k: choose among the k most likely tokens only.
//!
//! cargo run --example 02_top_k
//! cargo run --example 02_top_k -- --k 1,2,3 --prompt "It was a"

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use slowburn::model::Input;
use slowburn::sampling::SamplingParams;
use slowburn_examples::cli::{self, Chart, GenerateArgs, Setting, whole};

/// Shows which tokens survive top-k, with which probabilities, and what is written from them
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    generate: GenerateArgs,

    /// The values to compare; --top-k K shows only that one
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1, 5, 40],
        value_name = "K,...",
        value_parser = whole::<usize>(..)
    )]
    k: Vec<usize>,

    /// Draw which tokens top-k keeps (.svg or .png; needs --features plot)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
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
    let setting = |label, top_k| {
        let params = SamplingParams { top_k, ..args.sampling.typed() };
        Setting::new(label, params, args, &pretrained, &prompt, &logits)
    };
    let ks = args.sampling.top_k.map_or_else(|| cli.k.clone(), |k| vec![k]);
    let mut settings = vec![setting("all".to_owned(), None)?];
    for k in ks {
        settings.push(setting(format!("k = {k}"), Some(k))?);
    }
    if let Some(file) = &cli.chart {
        let chart = Chart::Survivors { logits: &logits, settings: &settings[1..] };
        cli::draw(file, &chart, &pretrained, &prompt)?;
    }
    cli::settings(args, &pretrained, &prompt, &logits, &settings)
}
