//! Fewer bits: the same model with its weights in f32, f16, int8 and int4.
//!
//! cargo run --example 12_quantized
//! cargo run --example 12_quantized -- --quantize-embedding f32
//! cargo run --example 12_quantized -- --activations int8

mod report;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use slowburn::generate::{self, Chosen, Divergence, Options};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn_examples::cli::{self, GenerateArgs};

use report::{FormatReport, QuantizedArgs, Story, WeightFormat, quantized};

/// Compares the formats of weights: bytes, speed, distributions, and a text in each
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    quantized: QuantizedArgs,
}

fn main() -> ExitCode {
    let Cli { quantized } = cli::parse();
    cli::exit(if quantized.generate.score {
        cli::score_prompt(&quantized.generate)
    } else {
        compare(&quantized)
    })
}

fn compare(args: &QuantizedArgs) -> cli::Result<()> {
    let reference = args.load(WeightFormat::F32)?;
    let prompt = args.generate.prompt_ids(&reference)?;
    let texts = sample(&reference.model, &args.generate, &prompt, args.texts)?;
    let mut reports = Vec::new();
    for format in WeightFormat::ALL {
        let pretrained = args.load(format)?;
        let mut divergence = Divergence::default();
        for ids in &texts {
            divergence.add(&generate::divergence(&reference.model, &pretrained.model, ids)?);
        }
        let story = write(&pretrained, &args.generate, &prompt)?;
        reports.push(FormatReport { format, bytes: pretrained.model.bytes(), divergence, story });
    }
    quantized(args, &reports)
}

fn write(pretrained: &Pretrained, args: &GenerateArgs, prompt: &[u32]) -> cli::Result<Story> {
    let options = Options { max_tokens: args.max_tokens.unwrap_or(60), ..args.options() };
    let start = Instant::now();
    let on_token = &mut |_: &Chosen<'_>| ControlFlow::Continue(());
    let ids = generate::cached(&pretrained.model, prompt, &options, on_token)?.ids;
    let time = start.elapsed();
    Ok(Story { text: pretrained.tokenizer.decode(&ids)?, ids, time })
}

/// Texts of the model in f32, each with a seed of its own, at temperature 1: as likely as the model
/// says.
fn sample(
    model: &Model,
    args: &GenerateArgs,
    prompt: &[u32],
    count: usize,
) -> cli::Result<Vec<Vec<u32>>> {
    let first = args.options().sampling.seed;
    let mut texts = Vec::new();
    for index in 0..count as u64 {
        let seed = first.wrapping_add(index);
        let sampling = SamplingParams { seed, ..SamplingParams::default() };
        let options = Options { max_tokens: 200, sampling, ..args.options() };
        let on_token = &mut |_: &Chosen<'_>| ControlFlow::Continue(());
        let generation = generate::cached(model, prompt, &options, on_token)?;
        texts.push([prompt, &generation.ids].concat());
    }
    Ok(texts)
}
