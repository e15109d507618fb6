//! A training checkpoint: the weights, the optimizer state, and the progress.

use std::path::Path;

use anyhow::{Context, Result};
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::store::ModuleRecord;
use serde::{Deserialize, Serialize};
use slowburn::model::decoder::Decoder;

pub struct Checkpoint {
    pub model: Decoder,
    pub optimizer: ModuleOptimizer,
    pub step: usize,
    pub next_story: usize,
}

#[derive(Serialize, Deserialize)]
struct Progress {
    step: usize,
    next_story: usize,
}

/// Writes a checkpoint into `run`; the previous one is kept until the new one is complete.
pub fn save(
    run: &Path,
    model: &Decoder,
    optimizer: &ModuleOptimizer,
    step: usize,
    next_story: usize,
) -> Result<()> {
    let new = run.join("checkpoint.new");
    let current = run.join("checkpoint");
    std::fs::create_dir_all(&new)?;
    model.clone().into_record().save(new.join("model.bpk"))?;
    optimizer.save(new.join("optimizer.bpk"))?;
    let progress = serde_json::to_string(&Progress { step, next_story })?;
    std::fs::write(new.join("progress.json"), progress)?;
    if current.exists() {
        std::fs::remove_dir_all(&current)?;
    }
    std::fs::rename(&new, &current)?;
    Ok(())
}

impl Checkpoint {
    /// Reads the checkpoint in `run` into a fresh model and optimizer.
    pub fn load(run: &Path, model: Decoder, optimizer: ModuleOptimizer) -> Result<Self> {
        let folder = run.join("checkpoint");
        let progress = std::fs::read(folder.join("progress.json"))
            .with_context(|| format!("no checkpoint in {}: run without --resume", run.display()))?;
        let Progress { step, next_story } = serde_json::from_slice(&progress)?;
        let record = ModuleRecord::load(folder.join("model.bpk"))?;
        Ok(Self {
            model: model.try_load_record(record)?,
            optimizer: optimizer.load(folder.join("optimizer.bpk"))?,
            step,
            next_story,
        })
    }
}
