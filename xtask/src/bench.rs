//! `cargo xtask bench`: how many tokens a second the cached loop reads and writes, and how many
//! candle does.

mod candle;
mod machine;
mod measured;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use burn::tensor::DType;
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use crate::random_checkpoint::{self, Shape, StoredAs};
use candle::Candle;
use measured::{Measured, Workload, median};

/// Each round, every contender generates the same tokens from the same prompt, greedily and
/// without an end. What is printed is the median of the rounds. Prefill is the time until the
/// first new token is known, decode the time from there to the last.
#[derive(Args)]
pub struct BenchArgs {
    /// The model folder; without it, data/smollm2-135m, which is made with random weights where
    /// it is missing
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure candle's Llama too, in turns, and compare the tokens
    #[arg(long)]
    peers: bool,
    /// Tokens in the prompt
    #[arg(long, default_value_t = 128)]
    prompt_tokens: usize,
    /// Tokens to generate
    #[arg(long, default_value_t = 64)]
    new_tokens: usize,
    /// How many rounds are counted, after one that is not
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

pub fn run(args: &BenchArgs) -> Result<()> {
    ensure!(args.new_tokens >= 2, "decode begins with the second new token");
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global()?;
    let folder = match &args.model {
        Some(folder) => folder.clone(),
        None => default_checkpoint()?,
    };
    let mut peer = match args.peers {
        true => Some(Candle::start(&folder, args.threads)?),
        false => None,
    };
    let device = device::open(DeviceChoice::Cpu)?;
    let model = Pretrained::load(&folder, &device, Precision::F32)?.model;
    let vocab = model.config().vocab_size;
    let workload = Workload {
        // Any ids will do, as long as they differ.
        prompt: (0..args.prompt_tokens).map(|i| (7919 * (i + 1) % vocab) as u32).collect(),
        new_tokens: args.new_tokens,
    };

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=args.rounds {
        // Who comes first changes, should one leave the machine warmer than it found it.
        if round % 2 == 0 {
            ours.push(generate(&model, &workload)?);
        }
        if let Some(peer) = &mut peer {
            theirs.push(peer.generate(&workload)?);
        }
        if round % 2 == 1 {
            ours.push(generate(&model, &workload)?);
        }
    }

    println!("{}, {} threads", machine::describe()?, args.threads);
    println!(
        "{}, {:.0} MiB in {}: {} prompt tokens, {} new tokens, median of {} rounds",
        folder.display(),
        model.bytes() as f64 / f64::from(1 << 20),
        DType::F32.name(),
        args.prompt_tokens,
        args.new_tokens,
        args.rounds
    );
    println!();
    println!("| | prefill, tokens/s | decode, tokens/s |");
    println!("|---|---|---|");
    print_row("Slow Burn", &workload, &ours[1..]);
    if let Some(peer) = &peer {
        print_row(&peer.name, &workload, &theirs[1..]);
        print_ratios(&workload, &ours[1..], &theirs[1..]);
        println!();
        println!("{}", agreement(&ours[0].ids, &theirs[0].ids));
    }
    Ok(())
}

fn default_checkpoint() -> Result<PathBuf> {
    let folder = PathBuf::from("data/smollm2-135m");
    if !folder.join("model.safetensors").exists() {
        random_checkpoint::write(Shape::SmolLm2_135m, &folder, StoredAs::F32, 1)?;
    }
    Ok(folder)
}

/// One generation by the loop that everyone uses.
fn generate(model: &Model, workload: &Workload) -> Result<Measured> {
    let options = Options {
        max_tokens: workload.new_tokens,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ignore_eos: true,
        ..Options::default()
    };
    let start = Instant::now();
    let mut prefill = Duration::ZERO;
    let generation = generate::cached(model, &workload.prompt, &options, &mut |token| {
        if token.index == 0 {
            prefill = start.elapsed();
        }
        ControlFlow::Continue(())
    })?;
    let decode = start.elapsed() - prefill;
    Ok(Measured {
        prefill: prefill.as_secs_f64(),
        decode: decode.as_secs_f64(),
        ids: generation.ids,
    })
}

fn print_row(name: &str, workload: &Workload, rounds: &[Measured]) {
    let prefill = median(rounds.iter().map(|round| round.prefill_rate(workload)));
    let decode = median(rounds.iter().map(|round| round.decode_rate(workload)));
    println!("| {name} | {prefill:.0} | {decode:.1} |");
}

/// The median of the rounds' ratios: what slows one round slows both contenders in it.
fn print_ratios(workload: &Workload, ours: &[Measured], theirs: &[Measured]) {
    let ratio = |rate: fn(&Measured, &Workload) -> f64| {
        let pairs = ours.iter().zip(theirs);
        median(pairs.map(|(our, their)| rate(our, workload) / rate(their, workload)))
    };
    let (prefill, decode) = (ratio(Measured::prefill_rate), ratio(Measured::decode_rate));
    println!("| ratio | {prefill:.2} | {decode:.2} |");
}

fn agreement(ours: &[u32], theirs: &[u32]) -> String {
    let total = ours.len().max(theirs.len());
    match (0..total).find(|&i| ours.get(i) != theirs.get(i)) {
        None => format!("Both wrote the same {total} tokens."),
        Some(i) => format!(
            "The first {i} tokens are the same. Then Slow Burn wrote {:?} and the other {:?}.",
            ours.get(i),
            theirs.get(i)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_tokens_begin_to_differ() {
        assert_eq!(agreement(&[3, 1], &[3, 1]), "Both wrote the same 2 tokens.");
        let differs =
            "The first 1 tokens are the same. Then Slow Burn wrote Some(1) and the other Some(4).";
        assert_eq!(agreement(&[3, 1, 7], &[3, 4, 7]), differs);
        assert!(agreement(&[3], &[3, 4]).starts_with("The first 1 tokens"));
    }
}
