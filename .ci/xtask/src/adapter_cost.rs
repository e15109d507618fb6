//! `cargo xtask adapter-cost`: what adapters add to the step of a batch.

use std::array;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use safetensors::Dtype as Type;
use safetensors::tensor::TensorView;
use serde_json::json;
use slowburn::adapter::Adapter;
use slowburn::device::{self, DeviceChoice};
use slowburn::kernels::{Cpu, Simd};
use slowburn::kv::KvCache;
use slowburn::model::{Input, Model, ModelConfig};
use slowburn::pretrained::Pretrained;

use crate::bench::{Dtype, checkpoint, machine, median};
use crate::random_checkpoint::Shape;

/// All numbers of adapters take a step in turns. What is printed is the median of the rounds.
#[derive(Args)]
pub struct AdapterCostArgs {
    /// A model folder of the Llama family; without it, the shape of SmolLM2-135M with random weights, made in data/
    /// where it is missing
    #[arg(long)]
    model: Option<PathBuf>,
    /// The rank of the adapters
    #[arg(long, default_value_t = 8)]
    rank: usize,
    /// Sequences in the batch
    #[arg(long, default_value_t = 16)]
    batch: usize,
    /// How many rounds are counted, after one that is not
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The type of the weights
    #[arg(long, value_enum, default_value_t = Dtype::F32)]
    dtype: Dtype,
}

/// The numbers of adapters that are compared: none, and more and more.
const ADAPTERS: [usize; 4] = [0, 1, 4, 16];

/// The tokens that each sequence has read before.
const PROMPT: usize = 32;

pub fn run(args: &AdapterCostArgs) -> Result<()> {
    let AdapterCostArgs { rank, batch, rounds, threads, .. } = *args;
    ensure!(rank >= 1 && batch >= 1 && rounds >= 1, "a rank, a batch and a round at least");
    let folder = match &args.model {
        Some(folder) => folder.clone(),
        None => checkpoint(Shape::SmolLm2_135m)?,
    };
    let device = device::open(DeviceChoice::Cpu)?;
    let cpu = Cpu::new(Simd::detect(), threads)?;
    let load = || Pretrained::load(&folder, &device, args.dtype.storage());
    let pretrained = cpu.enter(load)?;
    let model = &pretrained.model;
    let most = ADAPTERS[ADAPTERS.len() - 1];
    let read = |seed| -> Result<Arc<Adapter>> {
        let folder = tempfile::tempdir()?;
        write(folder.path(), model.config(), rank, seed)?;
        Ok(pretrained.read_adapter(folder.path())?)
    };
    let adapters: Vec<Arc<Adapter>> = (0..most as u64).map(read).collect::<Result<_>>()?;
    let mut contenders: [Vec<KvCache>; ADAPTERS.len()] = array::from_fn(|_| Vec::new());
    for (caches, count) in contenders.iter_mut().zip(ADAPTERS) {
        *caches = begin(model, batch, PROMPT + rounds + 1, &adapters[..count])?;
    }
    let mut times: [Vec<f64>; ADAPTERS.len()] = array::from_fn(|_| Vec::new());
    for round in 0..=rounds {
        for (caches, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            step(model, caches, &[1])?;
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    println!(
        "{}, {threads} threads, weights in {}, {batch} sequences, rank {rank}, {:.1} MB an adapter beside {:.0} MB, {rounds} rounds\n",
        machine::describe()?,
        args.dtype.name(),
        adapters[0].bytes() as f64 / 1e6,
        model.bytes() as f64 / 1e6,
    );
    println!("| adapters in the batch | ms a step | of the step without |");
    println!("|---:|---:|---:|");
    for (count, own) in ADAPTERS.iter().zip(&times) {
        let ratio = median(own.iter().zip(&times[0]).map(|(own, without)| own / without));
        println!("| {count} | {:.1} | {ratio:.2} |", 1e3 * median(own.iter().copied()));
    }
    Ok(())
}

/// Caches of sequences that have read their prompts, with each of the adapters in turn.
fn begin(
    model: &Model,
    batch: usize,
    capacity: usize,
    adapters: &[Arc<Adapter>],
) -> Result<Vec<KvCache>> {
    let cache = |index: usize| {
        let adapter = adapters.get(index % adapters.len().max(1));
        Ok(model.new_cache(capacity)?.with_adapter(adapter))
    };
    let mut caches = (0..batch).map(cache).collect::<slowburn::Result<Vec<_>>>()?;
    let prompt: Vec<u32> = (0..PROMPT as u32).collect();
    step(model, &mut caches, &prompt)?;
    Ok(caches)
}

fn step(model: &Model, caches: &mut [KvCache], tokens: &[u32]) -> Result<()> {
    let inputs = caches.iter_mut().map(|cache| Input::after(cache, tokens));
    model.forward(&mut inputs.collect::<Vec<_>>())?;
    Ok(())
}

/// Writes a random adapter of all linear layers, as PEFT does.
fn write(folder: &Path, config: &ModelConfig, rank: usize, seed: u64) -> Result<()> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let (d_model, d_ff) = (config.d_model, config.d_ff);
    let [d_q, d_kv] = [config.n_heads, config.n_kv_heads].map(|heads| heads * config.head_dim);
    let layers = [
        ("self_attn.q_proj", [d_q, d_model]),
        ("self_attn.k_proj", [d_kv, d_model]),
        ("self_attn.v_proj", [d_kv, d_model]),
        ("self_attn.o_proj", [d_model, d_q]),
        ("mlp.gate_proj", [d_ff, d_model]),
        ("mlp.up_proj", [d_ff, d_model]),
        ("mlp.down_proj", [d_model, d_ff]),
    ];
    let mut tensors = Vec::new();
    for layer in 0..config.n_layers {
        for (part, [n_out, n_in]) in layers {
            for (end, shape) in [("lora_A", [rank, n_in]), ("lora_B", [n_out, rank])] {
                let mut number = || generator.next_u32() as f32 / u32::MAX as f32 - 0.5;
                let numbers = (0..shape[0] * shape[1]).map(|_| 0.02 * number());
                let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
                let name = format!("base_model.model.model.layers.{layer}.{part}.{end}.weight");
                tensors.push((name, shape, bytes));
            }
        }
    }
    let views = tensors
        .iter()
        .map(|(name, shape, bytes)| Ok((name, TensorView::new(Type::F32, shape.to_vec(), bytes)?)));
    let views: Vec<_> = views.collect::<Result<_>>()?;
    safetensors::serialize_to_file(views, None, &folder.join("adapter_model.safetensors"))?;
    let config = json!({ "peft_type": "LORA", "r": rank, "lora_alpha": 2 * rank });
    fs::write(folder.join("adapter_config.json"), config.to_string())?;
    Ok(())
}
