//! `cargo xtask load-cost`: what loading a model takes in time, against reading its files, and in
//! memory, against what the loaded model takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;

#[derive(Args)]
pub struct LoadCostArgs {
    /// The model folder
    #[arg(long)]
    model: PathBuf,
    /// What to compute in
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    dtype: Precision,
    /// How often the files are read, of which the fastest counts
    #[arg(long, default_value_t = 3)]
    reads: usize,
}

pub fn run(args: &LoadCostArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let files = weight_files(&args.model)?;

    // The first reading brings the files into the system's cache, for both alike.
    let mut fastest = Duration::MAX;
    let mut bytes = 0;
    for _ in 0..args.reads.max(1) + 1 {
        let start = Instant::now();
        bytes = files.iter().map(|file| read(file)).sum::<Result<usize>>()?;
        fastest = fastest.min(start.elapsed());
    }
    forget_peak()?;

    let before = memory("VmRSS")?;
    let start = Instant::now();
    let pretrained = Pretrained::load(&args.model, &device, args.dtype)?;
    let load = start.elapsed();
    let (after, peak) = (memory("VmRSS")?, memory("VmHWM")?);
    ensure!(
        peak > before,
        "the peak of memory lies before the loading: nothing was measured"
    );

    let weights = pretrained.model.bytes() as u64;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("| | |");
    println!("|---|---|");
    println!("| files | {:.1} MiB |", mib(bytes as u64));
    println!("| reading them | {:.3} s |", fastest.as_secs_f64());
    let ratio = load.as_secs_f64() / fastest.as_secs_f64();
    println!("| loading | {:.3} s, {ratio:.2} times reading |", load.as_secs_f64());
    println!("| weights in {} | {:.1} MiB |", args.dtype.name(), mib(weights));
    println!("| loaded model with tokenizer | {:.1} MiB |", mib(after.saturating_sub(before)));
    let peak = peak.saturating_sub(before);
    let ratio = peak as f64 / weights as f64;
    println!("| peak while loading | {:.1} MiB, {ratio:.2} times the weights |", mib(peak));
    Ok(())
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

/// Reads a whole file into memory and returns its size.
fn read(path: &Path) -> Result<usize> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    // The reading must not be left out because nobody looks at what was read.
    Ok(std::hint::black_box(bytes).len())
}

/// Sets `VmHWM` back to what the process has now.
fn forget_peak() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("only Linux can forget the peak of memory")
}

/// What Linux says of this process, in bytes: `VmRSS` is the memory it has, `VmHWM` the most
/// that it ever had.
fn memory(field: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")
        .context("only Linux tells how much memory a process has had")?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kib = value.and_then(|value| value.trim().strip_suffix("kB"));
    let kib = kib.with_context(|| format!("/proc/self/status has no {field}"))?;
    Ok(kib.trim().parse::<u64>()? * 1024)
}
