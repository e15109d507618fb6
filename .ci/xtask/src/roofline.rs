//! `cargo xtask roofline`: memory bandwidth and arithmetic throughput of this machine, and how
//! close prefill and decode come to them.
//!
//! The roofline model (Williams, Waterman, Patterson, 2009): a computation with arithmetic
//! intensity F, in operations per byte, is limited by the arithmetic throughput and by F times the
//! bandwidth.

mod chart;
mod cost;
mod memory;
mod multiply_add;
mod phases;
mod roof;
mod team;
mod vectors;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use slowburn::device::Precision;
use slowburn::kernels::Simd;

use crate::bench::{Ours, machine};
pub use cost::Shape;
use roof::Roof;

/// Both roofs are the best of several tries: nothing that computes on this machine is faster.
/// The phases are medians. Bytes are those of the weights, once for each pass, and of the keys
/// and values that a pass reads. Of experts, these are the weights of those that its tokens take, if each
/// is taken as often as any other.
#[derive(Args)]
pub struct RooflineArgs {
    /// A model folder [default: the bundled model]
    #[arg(long)]
    model: Option<PathBuf>,
    /// What to store weights, keys and values in
    #[arg(long, value_parser = slowburn_flags::precision(), default_value = "f32")]
    dtype: Precision,
    /// Tokens in the prompt; as many as the context has room for
    #[arg(long, value_delimiter = ',', default_value = "128,1800")]
    prompt_tokens: Vec<usize>,
    /// Steps of decoding
    #[arg(long, default_value_t = 32)]
    new_tokens: usize,
    /// How many sequences are decoded at once, after the first of the prompts; 1 leaves this out
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// How often each phase is measured, after once that is not counted
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// How much is read to find the bandwidth of the memory: more than any cache holds
    #[arg(long, default_value_t = 1024)]
    mib: usize,
    /// Draw the phases under the roof (.svg or .png)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

const MIB: f64 = (1 << 20) as f64;

pub fn run(args: &RooflineArgs) -> Result<()> {
    ensure!(args.threads >= 1, "something has to compute");
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    ensure!(args.mib >= 1, "there is nothing to read in 0 MiB");
    let ours = Ours::load(args.model.as_deref(), args.dtype, args.threads)?;
    let shape = Shape::of(&ours.model);
    let phases = phases::all(&shape, &args.prompt_tokens, args.new_tokens, args.batch)?;

    println!("{}, {} threads, {}\n", machine::describe()?, args.threads, machine::simd());
    let weights = shape.weight_bytes() as usize;
    let [roof, memory] = roofs(args, weights)?;
    println!("| phase | flop/byte | Gflop/s | GB/s | roof, Gflop/s | of the roof | limit |");
    println!("|---|--:|--:|--:|--:|--:|---|");
    let mut points = Vec::new();
    for phase in phases {
        let seconds = phase.measure(&ours.model, args.rounds)?;
        let cost = phase.cost(&shape);
        let (rate, limit) = (cost.flops / seconds, roof.at(cost.intensity()));
        println!(
            "| {} | {:.2} | {:.1} | {:.1} | {:.0} | {:.0} % | {} |",
            phase.name(),
            cost.intensity(),
            gb(rate),
            gb(cost.bytes / seconds),
            gb(limit),
            100.0 * rate / limit,
            roof.limit(cost.intensity()),
        );
        points.push((phase.name(), cost.intensity(), rate));
    }
    if let Some(file) = &args.chart {
        let roofs = [
            (format!("reading {:.0} MiB", weights as f64 / MIB), roof),
            ("reading memory".to_owned(), memory),
        ];
        // Weights that exceed every cache are read from memory, so both roofs coincide.
        let distinct = if weights >= args.mib << 20 { 1 } else { 2 };
        chart::draw(file, &roofs[..distinct], &points)?;
    }
    Ok(())
}

/// Measures and prints what this machine could do. The first roof is that of reading `weights` bytes, the
/// second that of reading more than any cache holds.
fn roofs(args: &RooflineArgs, weights: usize) -> Result<[Roof; 2]> {
    let simd = Simd::detect();
    let read = |bytes, threads| memory::read_bandwidth(simd, bytes, threads);
    let from_memory = read(args.mib << 20, args.threads)?;
    let on_one = read(args.mib << 20, 1)?;
    let of_weights = read(weights, args.threads)?;
    let arithmetic = multiply_add::rate(simd, args.threads);
    let arithmetic_on_one = multiply_add::rate(simd, 1);
    println!("| this machine | all threads | one thread |");
    println!("|---|--:|--:|");
    println!("| reads {} MiB, GB/s | {:.1} | {:.1} |", args.mib, gb(from_memory), gb(on_one));
    let mib = weights as f64 / MIB;
    println!("| reads {mib:.0} MiB, as much as the weights, GB/s | {:.1} | |", gb(of_weights));
    println!(
        "| multiplies and adds, Gflop/s | {:.0} | {:.0} |\n",
        gb(arithmetic),
        gb(arithmetic_on_one)
    );
    Ok([of_weights, from_memory].map(|bandwidth| Roof { bandwidth, arithmetic }))
}

/// A rate in thousands of millions.
fn gb(rate: f64) -> f64 {
    rate / 1e9
}
