//! `cargo xtask paged-cost`: what it costs a decode step that the blocks of a sequence are scattered
//! over the memory.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::kv::KvCache;
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;

use crate::bench::{machine, median};

/// Two sequences have the same tokens. The blocks of one were allocated one after the other. Those
/// of the other were allocated in turns with the blocks of many more sequences, which have gone
/// since. In each round both take the same decode steps. What is printed is the median of the
/// rounds, and the median of their ratios.
#[derive(Args)]
pub struct PagedCostArgs {
    /// A model folder; without it, the model inside the crate
    #[arg(long)]
    model: Option<PathBuf>,
    /// Tokens in the KV cache
    #[arg(long, default_value_t = 400)]
    tokens: usize,
    /// How many sequences take their blocks in turns
    #[arg(long, default_value_t = 16)]
    neighbours: usize,
    /// Decode steps in a round
    #[arg(long, default_value_t = 16)]
    steps: usize,
    /// How many rounds are counted, after one that is not
    #[arg(long, default_value_t = 21)]
    rounds: usize,
}

pub fn run(args: &PagedCostArgs) -> Result<()> {
    ensure!(
        args.rounds >= 1 && args.steps >= 1,
        "nothing is measured in no round or no step"
    );
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = match &args.model {
        Some(folder) => Pretrained::load(folder, &device, Precision::F32)?,
        None => Pretrained::bundled(&device, Precision::F32)?,
    };
    let model = &pretrained.model;
    let context = model.config().context_length;
    ensure!(
        args.tokens + args.steps <= context,
        "{} tokens and {} steps are more than the context of {context}",
        args.tokens,
        args.steps
    );
    let ids: Vec<u32> = (0..args.tokens)
        .map(|i| (5 + i * 31 % 200) as u32 % model.config().vocab_size as u32)
        .collect();
    let mut in_a_row = in_a_row(model, &ids, context)?;
    let mut scattered = scattered(model, &ids, context, args.neighbours)?;

    let mut times = Vec::new();
    for round in 0..=args.rounds {
        // The first goes first in one round, and second in the next.
        let (mut first, mut second) = (&mut in_a_row, &mut scattered);
        if round % 2 == 1 {
            (first, second) = (second, first);
        }
        let mut pair = [decode(model, first, args)?, decode(model, second, args)?];
        if round % 2 == 1 {
            pair.reverse();
        }
        times.push(pair.map(|time| time.as_secs_f64() * 1e3 / args.steps as f64));
    }
    let times = &times[1..];
    let of = |which: usize| median(times.iter().map(|pair| pair[which]));
    let ratio = median(times.iter().map(|[row, scattered]| scattered / row));
    println!("{}, {}", machine::describe()?, machine::simd());
    println!(
        "decode after {} tokens, a step: blocks in a row {:.3} ms, scattered {:.3} ms",
        args.tokens,
        of(0),
        of(1)
    );
    println!("median of the ratios of {} rounds: {ratio:.3}", times.len());
    Ok(())
}

fn in_a_row(model: &Model, ids: &[u32], capacity: usize) -> Result<KvCache> {
    let mut cache = model.new_cache(capacity)?;
    read(model, &mut cache, ids)?;
    Ok(cache)
}

/// Takes blocks in turns with `neighbours` other sequences, each of which ends up with a block
/// between any two of this one.
fn scattered(model: &Model, ids: &[u32], capacity: usize, neighbours: usize) -> Result<KvCache> {
    let new = || model.new_cache(capacity);
    let mut caches = (0..=neighbours).map(|_| new()).collect::<slowburn::Result<Vec<_>>>()?;
    for chunk in ids.chunks(32) {
        for cache in &mut caches {
            read(model, cache, chunk)?;
        }
    }
    caches.into_iter().nth(neighbours / 2).context("no sequence")
}

fn read(model: &Model, cache: &mut KvCache, ids: &[u32]) -> Result<()> {
    model.forward(&mut [Input::after(cache, ids).with_logits(Logits::None)])?;
    Ok(())
}

/// The time of some decode steps, which are undone afterwards.
fn decode(model: &Model, cache: &mut KvCache, args: &PagedCostArgs) -> Result<Duration> {
    let start = Instant::now();
    for step in 0..args.steps {
        black_box(model.forward(&mut [Input::after(cache, &[5 + step as u32])])?);
    }
    let time = start.elapsed();
    cache.truncate(args.tokens);
    Ok(time)
}
