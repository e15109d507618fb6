//! `cargo xtask format-cost`: how fast the formats of weights are with each set of vector
//! instructions, those of keys and values after a long prompt, and activations in f32 and in fewer bits.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use slowburn::device::{self, DeviceChoice};
use slowburn::kernels::{Cpu, KvFormat, Simd};
use slowburn::pretrained::Pretrained;

use crate::bench::{Dtype, Measured, Ours, Phase, Workload, checkpoint, machine, median};
use crate::random_checkpoint::Shape;

/// All contenders generate the same number of tokens in each round, in turns. What is printed is
/// the median of the rounds.
#[derive(Args)]
pub struct FormatCostArgs {
    /// What to measure
    #[arg(value_enum)]
    what: What,
    /// A model folder; without it, the shape of SmolLM2-135M with random weights, made in data/
    /// where it is missing
    #[arg(long)]
    model: Option<PathBuf>,
    /// Tokens in the prompt [default: 32 for instructions, 1800 for keys and values, 128 for
    /// activations]
    #[arg(long)]
    prompt_tokens: Option<usize>,
    /// Tokens to generate
    #[arg(long, default_value_t = 16)]
    new_tokens: usize,
    /// How many rounds are counted, after one that is not
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Formats of weights, with each set of vector instructions that this processor has
    Simd,
    /// Formats of keys and values, beside weights in int8
    Kv,
    /// Activations in f32 and in fewer bits, with weights in bf16, int8 and int4
    Activations,
}

/// A model in one configuration.
struct Contender {
    name: String,
    ours: Ours,
    rounds: Vec<Measured>,
}

pub fn run(args: &FormatCostArgs) -> Result<()> {
    ensure!(args.new_tokens >= 2, "decode begins with the second new token");
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    let mut contenders = match args.what {
        What::Simd => simd(args)?,
        What::Kv => kv(args)?,
        What::Activations => activations(args)?,
    };
    let default = match args.what {
        What::Simd => 32,
        What::Kv => 1800,
        What::Activations => 128,
    };
    let model = &contenders[0].ours.model;
    let (prompt, context) = (args.prompt_tokens.unwrap_or(default), model.config().context_length);
    ensure!(prompt >= 1, "a prompt has a token at least");
    ensure!(
        prompt + args.new_tokens <= context,
        "{prompt} and {} new tokens are more than the context of {context}",
        args.new_tokens
    );
    let workload = Workload::new(prompt, args.new_tokens, model.config().vocab_size);
    for round in 0..=args.rounds {
        for contender in &mut contenders {
            thread::sleep(Duration::from_millis(100));
            let measured = contender.ours.alone(&workload)?;
            if round > 0 {
                contender.rounds.push(measured);
            }
        }
    }
    println!(
        "{}, {} threads, {prompt} prompt tokens, {} new tokens, {} rounds\n",
        machine::describe()?,
        args.threads,
        args.new_tokens,
        args.rounds
    );
    print_table(&contenders, &workload);
    Ok(())
}

fn print_table(contenders: &[Contender], workload: &Workload) {
    println!("| | prefill, tokens/s | decode, tokens/s | of the first |");
    println!("|---|---:|---:|---:|");
    for contender in contenders {
        let rate = |phase| median(contender.rounds.iter().map(|m| m.rate(phase, workload)));
        let pairs = contender.rounds.iter().zip(&contenders[0].rounds);
        let ratio = median(pairs.map(|(own, first)| first.decode / own.decode));
        println!(
            "| {} | {:.1} | {:.1} | {ratio:.2} |",
            contender.name,
            rate(Phase::Prefill),
            rate(Phase::Decode),
        );
    }
}

fn simd(args: &FormatCostArgs) -> Result<Vec<Contender>> {
    let mut contenders = Vec::new();
    for simd in Simd::available() {
        let cpu = Cpu::new(simd, args.threads)?;
        for dtype in [Dtype::F32, Dtype::Int8, Dtype::Int4] {
            let name = format!("{simd}, {}", dtype.name());
            contenders.push(load(args, &cpu, name, dtype, dtype.kv())?);
        }
    }
    Ok(contenders)
}

fn activations(args: &FormatCostArgs) -> Result<Vec<Contender>> {
    let cpu = Cpu::new(Simd::detect(), args.threads)?;
    let dtypes = [
        Dtype::Bf16,
        Dtype::Bf16Rounded,
        Dtype::Int8,
        Dtype::Int8Rounded,
        Dtype::Int4,
        Dtype::Int4Rounded,
    ];
    let load = |dtype: Dtype| load(args, &cpu, dtype.name().to_owned(), dtype, dtype.kv());
    dtypes.into_iter().map(load).collect()
}

fn kv(args: &FormatCostArgs) -> Result<Vec<Contender>> {
    let cpu = Cpu::new(Simd::detect(), args.threads)?;
    let formats = [KvFormat::F32, KvFormat::F16, KvFormat::Int8];
    let load = |format: &KvFormat| {
        let name = format!("keys and values in {}", format.name());
        load(args, &cpu, name, Dtype::Int8, *format)
    };
    formats.iter().map(load).collect()
}

fn load(
    args: &FormatCostArgs,
    cpu: &Cpu,
    name: String,
    dtype: Dtype,
    kv: KvFormat,
) -> Result<Contender> {
    let folder = match &args.model {
        Some(folder) => folder.clone(),
        None => checkpoint(Shape::SmolLm2_135m)?,
    };
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = cpu.enter(|| Pretrained::load(&folder, &device, dtype.storage()))?;
    let model = pretrained.model.with_kv_format(kv)?;
    Ok(Contender { name, ours: Ours { dtype, model }, rounds: Vec::new() })
}
