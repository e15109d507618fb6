//! `cargo xtask speculation`: what draft tokens gain, on texts of the bundled model, over the acceptance
//! rate on a large shape, and beside another engine.

mod peers;
mod shape;
mod texts;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use slowburn::engine::{EngineConfig, Policy};
use slowburn::generate::{Batch, Options};
use slowburn::model::Model;
use slowburn::speculation::Speculation;

use crate::bench::{machine, median};

/// The most draft tokens of a step.
const MOST: usize = 8;

/// Each round generates the same texts with and without draft tokens, in turns, after one that is not
/// counted. What is printed is the median of the rounds, and of ratios the median of the rounds'
/// ratios. The time begins with the first new token.
#[derive(Args)]
pub struct SpeculationArgs {
    /// What to measure
    #[arg(value_enum)]
    what: What,
    /// How many rounds are counted
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Draw the speed over the acceptance rate (.svg or .png; with `shape`)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// The Python that has the packages llama_cpp, gguf and numpy (with `peers`)
    #[arg(long, default_value = "python3")]
    python: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Texts that repeat and one that does not, in three formats, and batches
    Texts,
    /// The shape of SmolLM2-135M with random weights, whose own text is guessed right at a given rate
    Shape,
    /// Prompt lookup beside that of llama.cpp's Python package
    Peers,
}

pub fn run(args: &SpeculationArgs) -> Result<()> {
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    match args.what {
        What::Texts => texts::run(args)?,
        What::Shape => shape::run(args)?,
        What::Peers => peers::run(args)?,
    }
    let (machine, threads, rounds) = (machine::describe()?, args.threads, args.rounds);
    println!("\n{machine}, {threads} threads, {rounds} rounds");
    Ok(())
}

/// Texts that are generated together.
struct Case {
    name: &'static str,
    prompts: Vec<Vec<u32>>,
    options: Options,
}

/// Several runs of a case.
#[derive(Default)]
struct Runs {
    /// Tokens a second.
    rates: Vec<f64>,
    drafted: usize,
    accepted: usize,
}

impl Runs {
    fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }

    fn ratio(&self, plain: &Self) -> f64 {
        median(self.rates.iter().zip(&plain.rates).map(|(rate, plain)| rate / plain))
    }

    /// The share of draft tokens that were accepted, in percent.
    fn accepted(&self) -> f64 {
        100.0 * self.accepted as f64 / self.drafted.max(1) as f64
    }
}

/// Generates in each way, in turns.
fn measure(
    args: &SpeculationArgs,
    model: &Model,
    case: &Case,
    ways: &[Option<Speculation>],
) -> Result<Vec<Runs>> {
    let mut runs: Vec<Runs> = ways.iter().map(|_| Runs::default()).collect();
    for round in 0..=args.rounds {
        for (way, runs) in ways.iter().zip(&mut runs) {
            let rate = generate(model, case, way.clone(), runs)?;
            if round > 0 {
                runs.rates.push(rate);
            }
        }
    }
    Ok(runs)
}

/// Generates once. Returns tokens a second, after the first of each text.
fn generate(
    model: &Model,
    case: &Case,
    speculation: Option<Speculation>,
    runs: &mut Runs,
) -> Result<f64> {
    // All prompts are read in the first step.
    let policy = Policy::ContinuousBatch;
    let max_running = case.prompts.len();
    let config = EngineConfig { policy, max_running, ..EngineConfig::default() };
    let mut batch = Batch::with_config(model, config);
    batch.set_speculation(speculation);
    let options = vec![case.options.clone(); case.prompts.len()];
    let mut first = None;
    let texts = batch.run(&case.prompts, &options, &mut |_, _| {
        first.get_or_insert_with(Instant::now);
        ControlFlow::Continue(())
    })?;
    let seconds = first.context("nothing was generated")?.elapsed().as_secs_f64();
    runs.drafted += texts.iter().map(|text| text.drafted).sum::<usize>();
    runs.accepted += texts.iter().map(|text| text.accepted).sum::<usize>();
    let tokens: usize = texts.iter().map(|text| text.ids.len() - 1).sum();
    Ok(tokens as f64 / seconds)
}
