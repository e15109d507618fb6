//! `cargo xtask load-cost`: the time of loading a model, relative to reading its files, and the
//! peak memory, relative to the memory of the loaded model.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::generate::{self, Options};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;

use crate::bench::Workload;

/// Reading is what `std::fs::read` does with the weight files: one thread copies them from the
/// system's cache into fresh memory. Loading starts from the same cache, and ends with a model
/// that is ready to run and its tokenizer. Both are done in turns, and the fastest of each
/// counts. What the loading takes in memory is measured at the first one.
#[derive(Args)]
pub struct LoadCostArgs {
    /// The model folder
    #[arg(long)]
    model: PathBuf,
    /// What to store the weights in
    #[arg(long, value_parser = slowburn_flags::precision(), default_value = "f32")]
    dtype: Precision,
    /// How often the files are read and loaded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Measure the memory on the way to a text too, which goes on from a prompt of this many
    /// tokens
    #[arg(long)]
    prompt_tokens: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The cost of loading a model. Times are in seconds, memory is in bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadCost {
    /// The size of the weight files.
    files: usize,
    reading: f64,
    loading: f64,
    dtype: String,
    weights: u64,
    /// The memory of the loaded model with its tokenizer.
    kept: u64,
    /// Peak memory during loading.
    peak: u64,
    text: Option<TextCost>,
}

/// The memory cost of a generation.
#[derive(Debug, Serialize, Deserialize)]
struct TextCost {
    prompt_tokens: usize,
    /// The memory of the KV cache.
    cache: u64,
    /// Peak memory from before loading to the end of the generation.
    peak: u64,
}

pub fn run(args: &LoadCostArgs) -> Result<()> {
    let cost = measure(args)?;
    if args.json {
        println!("{}", serde_json::to_string(&cost)?)
    } else {
        cost.print()
    }
    Ok(())
}

fn measure(args: &LoadCostArgs) -> Result<LoadCost> {
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    let device = device::open(DeviceChoice::Cpu)?;
    let files = weight_files(&args.model)?;
    // An uncounted read, which brings the files into the page cache.
    let bytes = read(&files)?;

    let mut cost = load(args, &device, bytes)?;
    for round in 1..=args.rounds {
        let start = Instant::now();
        read(&files)?;
        cost.reading = cost.reading.min(start.elapsed().as_secs_f64());
        if round < args.rounds {
            let start = Instant::now();
            let pretrained = Pretrained::load(&args.model, &device, args.dtype)?;
            cost.loading = cost.loading.min(start.elapsed().as_secs_f64());
            drop(pretrained);
        }
    }
    Ok(cost)
}

impl LoadCost {
    /// The time of loading relative to reading the files.
    pub fn times_reading(&self) -> f64 {
        self.loading / self.reading
    }

    /// Peak memory of a generation relative to the memory of weights and KV cache. None if no
    /// generation was requested.
    pub fn peak_ratio(&self) -> Option<f64> {
        let text = self.text.as_ref()?;
        Some(text.peak as f64 / (self.weights + text.cache) as f64)
    }

    pub fn print(&self) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!("| | |");
        println!("|---|---|");
        println!("| files | {:.1} MiB |", mib(self.files as u64));
        println!("| reading them | {:.3} s |", self.reading);
        println!("| loading | {:.3} s, {:.2} times reading |", self.loading, self.times_reading());
        println!("| weights in {} | {:.1} MiB |", self.dtype, mib(self.weights));
        println!("| loaded model with tokenizer | {:.1} MiB |", mib(self.kept));
        let ratio = self.peak as f64 / self.weights as f64;
        println!(
            "| peak while loading | {:.1} MiB, {ratio:.2} times the weights |",
            mib(self.peak)
        );
        if let (Some(text), Some(ratio)) = (&self.text, self.peak_ratio()) {
            println!(
                "| KV cache after {} tokens | {:.1} MiB |",
                text.prompt_tokens,
                mib(text.cache)
            );
            println!(
                "| peak until then | {:.1} MiB, {ratio:.2} times weights and cache |",
                mib(text.peak)
            );
        }
    }
}

/// Loads the model, whose files have so many bytes, and generates a text if requested. Reading is not
/// measured yet.
fn load(args: &LoadCostArgs, device: &OpenDevice, files: usize) -> Result<LoadCost> {
    forget_peak()?;
    let before = memory("VmRSS")?;
    let start = Instant::now();
    let pretrained = Pretrained::load(&args.model, device, args.dtype)?;
    let loading = start.elapsed().as_secs_f64();
    let (after, peak) = (memory("VmRSS")?, memory("VmHWM")?);
    ensure!(
        peak > before,
        "the peak of memory lies before the loading: nothing was measured"
    );
    let text = match args.prompt_tokens {
        None => None,
        Some(prompt_tokens) => {
            let cache = generate(&pretrained.model, prompt_tokens)? as u64;
            Some(TextCost { prompt_tokens, cache, peak: memory("VmHWM")? - before })
        }
    };
    Ok(LoadCost {
        files,
        reading: f64::INFINITY,
        loading,
        dtype: args.dtype.name().to_owned(),
        weights: pretrained.model.bytes() as u64,
        kept: after.saturating_sub(before),
        peak: peak - before,
        text,
    })
}

/// Generates after `prompt_tokens` tokens, and returns the memory of the KV cache.
fn generate(model: &Model, prompt_tokens: usize) -> Result<usize> {
    let prompt = Workload::new(prompt_tokens, 1, model.config().vocab_size).prompt;
    let options = Options { max_tokens: 16, ignore_eos: true, ..Options::default() };
    let generation =
        generate::cached(model, &prompt, &options, &mut |_| ControlFlow::Continue(()))?;
    Ok(generation.kv_cache_bytes)
}

fn weight_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            files.push(path);
        }
    }
    ensure!(!files.is_empty(), "no safetensors file in {}", folder.display());
    Ok(files)
}

/// Reads each file into memory, and returns the total size.
fn read(files: &[PathBuf]) -> Result<usize> {
    let mut total = 0;
    for path in files {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        // Keeps the compiler from removing the unused read.
        total += std::hint::black_box(bytes).len();
    }
    Ok(total)
}

/// Resets `VmHWM` to the current memory of the process.
fn forget_peak() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("only Linux can forget the peak of memory")
}

/// A field of `/proc/self/status` in bytes: `VmRSS` is the current memory, `VmHWM` the peak.
fn memory(field: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")
        .context("only Linux tells how much memory a process has had")?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kib = value.and_then(|value| value.trim().strip_suffix("kB"));
    let kib = kib.with_context(|| format!("/proc/self/status has no {field}"))?;
    Ok(kib.trim().parse::<u64>()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_what_the_model_needs() {
        let text = TextCost { prompt_tokens: 9, cache: 100, peak: 1320 };
        let cost = |text| LoadCost {
            files: 1000,
            reading: 0.5,
            loading: 0.6,
            dtype: "f32".to_owned(),
            weights: 1100,
            kept: 1100,
            peak: 1200,
            text,
        };
        assert_eq!(cost(Some(text)).peak_ratio(), Some(1.1));
        assert_eq!(cost(None).peak_ratio(), None);
        assert_eq!(cost(None).times_reading(), 1.2);
    }
}
