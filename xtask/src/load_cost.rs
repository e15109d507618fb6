//! `cargo xtask load-cost`: what loading a model takes in time, against reading its files, and in
//! memory, against what the loaded model takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::pretrained::Pretrained;

/// Reading is what `std::fs::read` does with the weight files: one thread copies them from the
/// system's cache into fresh memory. Loading starts from the same cache, and ends with a model
/// that is ready to run and its tokenizer. Both are done in turns, and the fastest of each
/// counts. What the loading takes in memory is measured at the first one.
#[derive(Args)]
pub struct LoadCostArgs {
    /// The model folder
    #[arg(long)]
    model: PathBuf,
    /// What to compute in
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    dtype: Precision,
    /// How often the files are read and loaded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// What one loading takes.
struct Loading {
    time: Duration,
    /// The memory of the loaded model with its tokenizer, in bytes.
    kept: u64,
    /// The most memory on the way there, in bytes.
    peak: u64,
    /// The memory of the weights, in bytes.
    weights: u64,
}

pub fn run(args: &LoadCostArgs) -> Result<()> {
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    let device = device::open(DeviceChoice::Cpu)?;
    let files = weight_files(&args.model)?;
    // This brings the files into the system's cache, and is not counted.
    let bytes = read(&files)?;

    let first = load(args, &device)?;
    let mut loading = first.time;
    let mut reading = Duration::MAX;
    for round in 1..=args.rounds {
        let start = Instant::now();
        read(&files)?;
        reading = reading.min(start.elapsed());
        if round < args.rounds {
            loading = loading.min(load(args, &device)?.time);
        }
    }

    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("| | |");
    println!("|---|---|");
    println!("| files | {:.1} MiB |", mib(bytes as u64));
    println!("| reading them | {:.3} s |", reading.as_secs_f64());
    let ratio = loading.as_secs_f64() / reading.as_secs_f64();
    println!("| loading | {:.3} s, {ratio:.2} times reading |", loading.as_secs_f64());
    println!("| weights in {} | {:.1} MiB |", args.dtype.name(), mib(first.weights));
    println!("| loaded model with tokenizer | {:.1} MiB |", mib(first.kept));
    let ratio = first.peak as f64 / first.weights as f64;
    println!(
        "| peak while loading | {:.1} MiB, {ratio:.2} times the weights |",
        mib(first.peak)
    );
    Ok(())
}

fn load(args: &LoadCostArgs, device: &OpenDevice) -> Result<Loading> {
    forget_peak()?;
    let before = memory("VmRSS")?;
    let start = Instant::now();
    let pretrained = Pretrained::load(&args.model, device, args.dtype)?;
    let time = start.elapsed();
    let (after, peak) = (memory("VmRSS")?, memory("VmHWM")?);
    ensure!(
        peak > before,
        "the peak of memory lies before the loading: nothing was measured"
    );
    Ok(Loading {
        time,
        kept: after.saturating_sub(before),
        peak: peak - before,
        weights: pretrained.model.bytes() as u64,
    })
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

/// Reads each file into memory and returns how many bytes they have.
fn read(files: &[PathBuf]) -> Result<usize> {
    let mut total = 0;
    for path in files {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        // The reading must not be left out because nobody looks at what was read.
        total += std::hint::black_box(bytes).len();
    }
    Ok(total)
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
