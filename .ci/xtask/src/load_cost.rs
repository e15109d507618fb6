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
/// in f32 that is ready to run and its tokenizer. Both are done in turns, and the fastest of each
/// counts. What the loading takes in memory is measured at the first one, and then on the way to a
/// text. Prints JSON.
#[derive(Args)]
pub struct LoadCostArgs {
    /// The model folder
    model: PathBuf,
}

/// How often the files are read and loaded.
const ROUNDS: usize = 5;
/// The tokens of the prompt.
const PROMPT: usize = 1800;

/// The cost of loading a model. Times are in seconds, memory is in bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadCost {
    /// The size of the weight files.
    files: usize,
    reading: f64,
    loading: f64,
    weights: u64,
    /// The memory of the loaded model with its tokenizer.
    kept: u64,
    /// Peak memory during loading.
    peak: u64,
    /// The memory of the KV cache after a text.
    cache: u64,
    /// Peak memory from before loading to the end of the text.
    text_peak: u64,
}

pub fn run(args: &LoadCostArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let files = weight_files(&args.model)?;
    // An uncounted read, which brings the files into the page cache.
    let bytes = read(&files)?;

    let mut cost = load(&args.model, &device, bytes)?;
    for round in 1..=ROUNDS {
        let start = Instant::now();
        read(&files)?;
        cost.reading = cost.reading.min(start.elapsed().as_secs_f64());
        if round < ROUNDS {
            let start = Instant::now();
            let pretrained = Pretrained::load(&args.model, &device, Precision::F32)?;
            cost.loading = cost.loading.min(start.elapsed().as_secs_f64());
            drop(pretrained);
        }
    }
    println!("{}", serde_json::to_string(&cost)?);
    Ok(())
}

impl LoadCost {
    /// The time of loading relative to reading the files.
    pub fn times_reading(&self) -> f64 {
        self.loading / self.reading
    }

    /// Peak memory of a text relative to the memory of weights and KV cache.
    pub fn peak_ratio(&self) -> f64 {
        self.text_peak as f64 / (self.weights + self.cache) as f64
    }

    pub fn print(&self) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!("| | |");
        println!("|---|---|");
        println!("| files | {:.1} MiB |", mib(self.files as u64));
        println!("| reading them | {:.3} s |", self.reading);
        println!("| loading | {:.3} s, {:.2} times reading |", self.loading, self.times_reading());
        println!("| weights in f32 | {:.1} MiB |", mib(self.weights));
        println!("| loaded model with tokenizer | {:.1} MiB |", mib(self.kept));
        let ratio = self.peak as f64 / self.weights as f64;
        println!(
            "| peak while loading | {:.1} MiB, {ratio:.2} times the weights |",
            mib(self.peak)
        );
        println!("| KV cache after {PROMPT} tokens | {:.1} MiB |", mib(self.cache));
        println!(
            "| peak until then | {:.1} MiB, {:.2} times weights and cache |",
            mib(self.text_peak),
            self.peak_ratio()
        );
    }
}

/// Loads the model, whose files have so many bytes, and generates a text. Reading is not measured yet.
fn load(model: &Path, device: &OpenDevice, files: usize) -> Result<LoadCost> {
    forget_peak()?;
    let before = memory("VmRSS")?;
    let start = Instant::now();
    let pretrained = Pretrained::load(model, device, Precision::F32)?;
    let loading = start.elapsed().as_secs_f64();
    let (after, peak) = (memory("VmRSS")?, memory("VmHWM")?);
    ensure!(
        peak > before,
        "the peak of memory lies before the loading: nothing was measured"
    );
    let cache = generate(&pretrained.model)? as u64;
    Ok(LoadCost {
        files,
        reading: f64::INFINITY,
        loading,
        weights: pretrained.model.bytes() as u64,
        kept: after.saturating_sub(before),
        peak: peak - before,
        cache,
        text_peak: memory("VmHWM")? - before,
    })
}

/// Generates after a long prompt, and returns the memory of the KV cache.
fn generate(model: &Model) -> Result<usize> {
    let prompt = Workload::new(PROMPT, 1, model.config().vocab_size).prompt;
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
        let cost = LoadCost {
            files: 1000,
            reading: 0.5,
            loading: 0.6,
            weights: 1100,
            kept: 1100,
            peak: 1200,
            cache: 100,
            text_peak: 1320,
        };
        assert_eq!(cost.peak_ratio(), 1.1);
        assert_eq!(cost.times_reading(), 1.2);
    }
}
