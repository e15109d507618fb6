//! What is simulated: the cost of its steps, and its limits.

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use slowburn::device::Precision;

use std::path::PathBuf;

use super::calibrate;
use super::cost::StepCost;
use super::fit::Fit;
use super::layout::Layout;
use super::preset::{CONTEXT, H100, Preset, Shape, VOCAB};
use crate::bench::{Ours, machine};

/// A model on a machine, for a simulation.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    pub name: String,
    pub cost: StepCost,
    /// None for a cost that was not measured.
    pub fit: Option<Fit>,
    pub context: usize,
    pub vocab: usize,
    /// The positions of all blocks.
    pub kv_cache: usize,
}

#[derive(Debug, Clone, Args)]
pub struct TargetArgs {
    /// A model folder, whose steps are measured [default: the bundled model]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// What to store weights, keys and values in
    #[arg(long, value_parser = slowburn_flags::precision(), default_value = "f32")]
    dtype: Precision,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Measure nothing: the microseconds of a step, of a prefill token, of a decode, and of each
    /// position that a decode attends to; a fifth number where a prefill token's are different
    #[arg(long, value_name = "A,B,C,D[,E]", conflicts_with = "preset")]
    cost: Option<StepCost>,
    /// Measure nothing: a cost from the numbers of data sheets
    #[arg(long, value_enum, conflicts_with_all = ["model", "check"])]
    preset: Option<Preset>,
    /// The most tokens of a request [default: those of the model, 4096 with --cost alone]
    #[arg(long, value_name = "TOKENS")]
    context: Option<usize>,
    /// The positions of all blocks [default: 16 times the context, or what the memory of a preset
    /// holds]
    #[arg(long, value_name = "POSITIONS")]
    kv_cache: Option<usize>,
}

/// Sequences of the whole context that fit into the KV cache.
const WHOLE_CONTEXTS: usize = 16;
const DEFAULT_CONTEXT: usize = 4096;
const DEFAULT_VOCAB: usize = 32_000;

impl TargetArgs {
    /// The model, loaded.
    pub fn load(&self) -> Result<Ours> {
        Ours::load(self.model.as_deref(), self.dtype, self.threads)
    }

    /// The target, and its model if it was needed. `needs_model` says that it will be.
    pub fn target(&self, needs_model: bool) -> Result<(Target, Option<Ours>)> {
        if let Some(preset) = self.preset {
            return Ok((self.preset_target(preset)?, None));
        }
        let is_measured = self.cost.is_none() || self.model.is_some() || needs_model;
        let ours = is_measured.then(|| self.load()).transpose()?;
        let config = ours.as_ref().map(|ours| ours.model.config());
        let own_context = config.map_or(DEFAULT_CONTEXT, |config| config.context_length);
        let context = self.context.unwrap_or(own_context);
        if needs_model && context > own_context {
            anyhow::bail!("the model has a context of {own_context} tokens, not {context}");
        }
        let (cost, fit) = match (self.cost, &ours) {
            (Some(cost), _) => (cost, None),
            (None, ours) => {
                let model = &ours.as_ref().context("there is no model to measure")?.model;
                let fit = Fit::of(&calibrate::samples(model)?)?;
                (fit.cost, Some(fit))
            }
        };
        let target = Target {
            name: if fit.is_some() {
                self.machine()?
            } else {
                "the given cost".to_owned()
            },
            cost,
            fit,
            context,
            vocab: config.map_or(DEFAULT_VOCAB, |config| config.vocab_size),
            kv_cache: self.kv_cache.unwrap_or(context.saturating_mul(WHOLE_CONTEXTS)),
        };
        Ok((target, ours))
    }

    fn preset_target(&self, Preset::Llama8bH100: Preset) -> Result<Target> {
        let model = Shape::Llama8b.model();
        let kv_cache = self.kv_cache.or(Layout::Whole.kv_cache(&model, &H100));
        Ok(Target {
            name: "Llama 3 8B in bf16 on an H100 SXM, from data sheets".to_owned(),
            cost: model.cost(&H100),
            fit: None,
            context: self.context.unwrap_or(CONTEXT),
            vocab: VOCAB,
            kv_cache: kv_cache.context("the weights leave no room for keys and values")?,
        })
    }

    fn machine(&self) -> Result<String> {
        let model = match &self.model {
            Some(folder) => folder.display().to_string(),
            None => "the bundled model".to_owned(),
        };
        let (machine, simd) = (machine::describe()?, machine::simd());
        Ok(format!(
            "{model} in {}, {machine}, {} threads, {simd}",
            self.dtype.name(),
            self.threads
        ))
    }
}
