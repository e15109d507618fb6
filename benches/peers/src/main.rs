//! Generates with candle's released Llama, for `cargo xtask bench --peers` to compare with.
//!
//! The program is given a model folder and what to compute in, `f32` or `f16`. It then answers
//! lines with lines, both JSON: a [`Run`] asks for a generation, a [`Measured`] says how long it
//! took.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use candle_core::{DType, Device, IndexOp, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::llama::{Cache, Config, Llama, LlamaConfig};
use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Deserialize)]
struct Run {
    prompt: Vec<u32>,
    /// How many tokens to generate, the most likely one at each step, whatever they are.
    new_tokens: usize,
}

/// What it took.
#[derive(Serialize)]
struct Measured {
    /// Seconds until the first new token was known.
    prefill: f64,
    /// Seconds for all others.
    decode: f64,
    /// The new tokens.
    ids: Vec<u32>,
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("the argument is a model folder")?;
    let folder = Path::new(&folder);
    let dtype = match std::env::args().nth(2).as_deref() {
        Some("f32") => DType::F32,
        Some("f16") => DType::F16,
        other => bail!("the second argument is f32 or f16, and not {other:?}"),
    };
    let config: LlamaConfig = serde_json::from_slice(&fs::read(folder.join("config.json"))?)?;
    let config = config.into_config(false);
    let file = folder.join("model.safetensors");
    // SAFETY: nobody changes the file while this runs.
    let weights = unsafe { VarBuilder::from_mmaped_safetensors(&[file], dtype, &Device::Cpu)? };
    let model = Llama::load(weights, &config)?;

    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let measured = generate(&model, &config, dtype, &serde_json::from_str(&line?)?)?;
        writeln!(out, "{}", serde_json::to_string(&measured)?)?;
        out.flush()?;
    }
    Ok(())
}

/// The loop of candle's own Llama example, without its printing.
fn generate(model: &Llama, config: &Config, dtype: DType, run: &Run) -> Result<Measured> {
    // The rotations of all positions are made here, once for each run. They are not counted:
    // an application would keep them.
    let mut cache = Cache::new(true, dtype, config, &Device::Cpu)?;
    let mut ids: Vec<u32> = Vec::new();
    let start = Instant::now();
    let mut prefill = start.elapsed();
    while ids.len() < run.new_tokens {
        let (new, position) = match ids.last() {
            None => (run.prompt.as_slice(), 0),
            Some(last) => (std::slice::from_ref(last), run.prompt.len() + ids.len() - 1),
        };
        let input = Tensor::new(new, &Device::Cpu)?.unsqueeze(0)?;
        let logits = model.forward(&input, position, &mut cache)?.i(0)?; // [vocab]
        ids.push(logits.argmax(0)?.to_scalar::<u32>()?);
        if ids.len() == 1 {
            prefill = start.elapsed();
        }
    }
    let decode = start.elapsed() - prefill;
    Ok(Measured { prefill: prefill.as_secs_f64(), decode: decode.as_secs_f64(), ids })
}
