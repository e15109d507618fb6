//! `cargo xtask parity`: a Markdown table of the differences between the logits of the fixture
//! models and the reference, as shares of the largest logit of a position.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use safetensors::SafeTensors;
use serde::Deserialize;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;

#[derive(Args)]
pub struct ParityArgs {
    /// The folder of the fixture models
    #[arg(long, default_value = "tests/fixtures/models")]
    fixtures: PathBuf,
    /// Only the whole prompt at once, without a cache
    #[arg(long)]
    naive: bool,
}

/// The chunk sizes of the prefill to compare.
const CHUNKS: [usize; 3] = [1, 3, 8];

/// The reference outputs of one model.
#[derive(Deserialize)]
pub struct Reference {
    prompts: Vec<Vec<u32>>,
    greedy: Vec<Vec<u32>>,
    /// For each prompt, a row of logits for each of its tokens. They have a file of their own.
    #[serde(skip)]
    logits: Vec<Vec<Vec<f32>>>,
}

/// The greatest relative differences for one model.
#[derive(Default)]
pub struct Row {
    pub naive: f32,
    pub cached: f32,
    pub chunked: [f32; CHUNKS.len()],
    /// The number of greedy tokens that agree with the reference.
    pub same: usize,
    pub tokens: usize,
}

pub fn run(args: &ParityArgs) -> Result<()> {
    if args.naive {
        println!("| model | device | greatest relative difference of a logit |");
        println!("|---|---|--:|");
    } else {
        println!("| model | device | naive | cached | chunks of 1 | of 3 | of 8 | greedy tokens |");
        println!("|---|---|--:|--:|--:|--:|--:|--:|");
    }
    for folder in model_folders(&args.fixtures)? {
        let reference = Reference::read(&folder)?;
        for choice in [DeviceChoice::Cpu, DeviceChoice::Ndarray] {
            // Devices that are not compiled in have no row.
            let Ok(device) = device::open(choice) else {
                continue;
            };
            let pretrained = Pretrained::load(&folder, &device, Precision::F32)?;
            let row = reference.compare(&pretrained.model)?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if args.naive {
                println!("| {name} | {} | {:.1e} |", device.name, row.naive);
                continue;
            }
            let [one, three, eight] = row.chunked;
            println!(
                "| {name} | {} | {:.1e} | {:.1e} | {one:.1e} | {three:.1e} | {eight:.1e} | {} of {} |",
                device.name, row.naive, row.cached, row.same, row.tokens
            );
        }
    }
    Ok(())
}

/// The folders with reference outputs in a folder.
pub fn model_folders(fixtures: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(fixtures)
        .with_context(|| format!("cannot read {}", fixtures.display()))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join("expected.json").exists() {
            folders.push(path);
        }
    }
    ensure!(!folders.is_empty(), "no model with an expected.json in {}", fixtures.display());
    folders.sort();
    Ok(folders)
}

impl Reference {
    /// Reads what stands beside a model.
    pub fn read(folder: &Path) -> Result<Self> {
        let json = std::fs::read(folder.join("expected.json"))?;
        let mut reference: Self = serde_json::from_slice(&json)?;
        let bytes = std::fs::read(folder.join("expected.safetensors"))?;
        let file = SafeTensors::deserialize(&bytes)?;
        for i in 0..reference.prompts.len() {
            let view = file.tensor(&format!("logits_{i}"))?;
            let numbers: Vec<f32> = view
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect();
            let rows = numbers.chunks(view.shape()[1]).map(<[f32]>::to_vec);
            reference.logits.push(rows.collect());
        }
        Ok(reference)
    }

    /// How far the logits of whole prompts are from it.
    pub fn farthest_of_whole(&self, model: &Model) -> Result<f32> {
        let mut distance = 0.0_f32;
        for (prompt, logits) in self.prompts.iter().zip(&self.logits) {
            let whole = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)])?;
            distance = distance.max(farthest(&whole, logits));
        }
        Ok(distance)
    }

    /// How far a model is from it.
    pub fn compare(&self, model: &Model) -> Result<Row> {
        let mut row = Row::default();
        for (i, prompt) in self.prompts.iter().enumerate() {
            let (logits, greedy) = (&self.logits[i], &self.greedy[i]);
            let whole = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)])?;
            row.naive = row.naive.max(farthest(&whole, logits));

            let mut cache = model.new_cache(prompt.len() + greedy.len())?;
            let prefill =
                model.forward(&mut [Input::after(&mut cache, prompt).with_logits(Logits::All)])?;
            row.cached = row.cached.max(farthest(&prefill, logits));
            // Beyond the prompt the reference has tokens only, no logits.
            let mut next = argmax(&prefill[prefill.len() - 1]);
            for &token in greedy {
                row.same += usize::from(next == token);
                row.tokens += 1;
                next = argmax(&model.forward(&mut [Input::after(&mut cache, &[token])])?.remove(0));
            }

            for (size, farthest_yet) in CHUNKS.into_iter().zip(&mut row.chunked) {
                let mut cache = model.new_cache(prompt.len())?;
                let mut rows = Vec::new();
                for chunk in prompt.chunks(size) {
                    rows.extend(model.forward(&mut [
                        Input::after(&mut cache, chunk).with_logits(Logits::All),
                    ])?);
                }
                *farthest_yet = farthest_yet.max(farthest(&rows, logits));
            }
        }
        Ok(row)
    }
}

/// The greatest difference between two logits, as a share of the largest logit of the reference at their
/// position. A NaN counts as infinite.
pub fn farthest(found: &[Vec<f32>], reference: &[Vec<f32>]) -> f32 {
    let of_rows = found.iter().zip(reference).map(|(found, reference)| {
        let largest = reference.iter().fold(0.0_f32, |largest, logit| largest.max(logit.abs()));
        let shares = found.iter().zip(reference).map(|(a, b)| (a - b).abs() / largest);
        shares.map(|share| if share.is_nan() { f32::INFINITY } else { share }).fold(0.0, f32::max)
    });
    of_rows.fold(0.0, f32::max)
}

/// The most likely token; the lowest id for ties.
fn argmax(logits: &[f32]) -> u32 {
    let better = |best: usize, id: usize| if logits[id] > logits[best] { id } else { best };
    (0..logits.len()).reduce(better).unwrap_or(0) as u32
}
