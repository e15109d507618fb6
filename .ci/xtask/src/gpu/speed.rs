//! How fast a model of a shape reads and writes on the card, and what share of the card that is.

use std::time::{Duration, Instant};

use anyhow::Result;
use slowburn::device;
use slowburn::kernels::{BLOCK, Quantized};
use slowburn::kv::KvCache;
use slowburn::model::{Input, Logits, Model};

use super::budget::Budget;
use super::roof::Roof;
use crate::bench::{Dtype, Workload, median};
use crate::roofline::Shape;

/// What is measured of each model.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many tokens are read at once.
    pub prefills: Vec<usize>,
    /// Tokens of each sequence before it decodes.
    pub after: usize,
    /// The steps of a round of decoding.
    pub steps: usize,
    /// How many sequences decode at once.
    pub batches: Vec<usize>,
}

/// The most rounds; their median counts.
const ROUNDS: usize = 5;

impl Plan {
    pub fn whole(prefills: &[usize], batches: &[usize]) -> Self {
        Self {
            prefills: prefills.to_vec(),
            after: 128,
            steps: 16,
            batches: batches.to_vec(),
        }
    }

    pub fn quick() -> Self {
        Self { prefills: vec![32], after: 8, steps: 2, batches: vec![1, 3] }
    }

    /// The head of the table of [`rows`](Self::rows).
    pub const HEAD: &'static str = "| model | stored in | phase | tokens/s | Gflop/s | of the product | GB/s | of the copy | launches |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|\n";

    /// The rows of a model, as Markdown.
    pub fn rows(
        &self,
        name: &str,
        model: &Model,
        dtype: Dtype,
        roof: &Roof,
        budget: Budget,
    ) -> Result<String> {
        let named = |phase: &str| format!("| {name} | {} | {phase} |", dtype.name());
        let mut left = self.prefills.len() + self.batches.len();
        let mut rows = String::new();
        for &tokens in &self.prefills {
            let prefill = self.measure_prefill(model, tokens, budget.first_of(left))?;
            left -= 1;
            rows += &named(&format!("prefill of {tokens}"));
            rows += &prefill.cells(model, dtype, roof);
        }
        for &sequences in &self.batches {
            let phase = format!("decode, batch {sequences}");
            let share = budget.first_of(left);
            left -= 1;
            rows += &named(&phase);
            rows += &match self.measure_decode(model, sequences, share)? {
                Some(measured) => measured.cells(model, dtype, roof),
                None => " not in time | | | | | |\n".to_owned(),
            };
        }
        Ok(rows)
    }

    fn measure_prefill(&self, model: &Model, tokens: usize, budget: Budget) -> Result<Measured> {
        let prompt = Workload::new(tokens, 1, model.config().vocab_size).prompt;
        let pass = || -> Result<Duration> {
            let mut cache = model.new_cache(prompt.len())?;
            let start = Instant::now();
            model.forward(&mut [Input::after(&mut cache, &prompt)])?;
            Ok(start.elapsed())
        };
        pass()?; // compiles the kernels
        let before = device::launches();
        pass()?;
        let launches = device::launches() - before;
        let seconds = rounds(budget, pass)?;
        Ok(Measured { sequences: 1, before: 0, new: tokens, seconds, launches })
    }

    /// None where the prompts alone take the time.
    fn measure_decode(
        &self,
        model: &Model,
        sequences: usize,
        budget: Budget,
    ) -> Result<Option<Measured>> {
        let vocab = model.config().vocab_size;
        let prompt = Workload::new(self.after, 1, vocab).prompt;
        let mut caches = Vec::new();
        for sequence in 0..sequences {
            if budget.is_over() {
                return Ok(None);
            }
            let other = |id: &u32| ((*id as usize + sequence) % vocab) as u32;
            let prompt: Vec<u32> = prompt.iter().map(other).collect();
            let mut cache = model.new_cache(self.after + 1 + (ROUNDS + 1) * self.steps)?;
            model.forward(&mut [Input::after(&mut cache, &prompt).with_logits(Logits::None)])?;
            caches.push(cache);
        }
        step(model, &mut caches, &prompt[..1])?; // compiles the kernels
        let launched = device::launches();
        step(model, &mut caches, &prompt[..1])?;
        let launches = device::launches() - launched;
        let mut passed = self.after + 2;
        let seconds = rounds(budget, || {
            let start = Instant::now();
            for _ in 0..self.steps {
                step(model, &mut caches, &prompt[..1])?;
            }
            passed += self.steps;
            Ok(start.elapsed() / self.steps as u32)
        })?;
        let before = (self.after + 2 + passed) / 2; // on average
        Ok(Some(Measured { sequences, before, new: 1, seconds, launches }))
    }
}

/// A decode step: all sequences read the same token.
fn step(model: &Model, caches: &mut [KvCache], token: &[u32]) -> Result<()> {
    let inputs = caches.iter_mut().map(|cache| Input::after(cache, token));
    model.forward(&mut inputs.collect::<Vec<_>>())?;
    Ok(())
}

/// The median of as many rounds as there is time for, at least one.
fn rounds(budget: Budget, mut round: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let mut times = vec![round()?];
    while times.len() < ROUNDS && !budget.is_over() {
        times.push(round()?);
    }
    Ok(median(times.iter().map(Duration::as_secs_f64)))
}

/// A pass, timed.
struct Measured {
    sequences: usize,
    /// The positions of each sequence before it.
    before: usize,
    /// The new ones.
    new: usize,
    seconds: f64,
    launches: u64,
}

impl Measured {
    fn cells(&self, model: &Model, dtype: Dtype, roof: &Roof) -> String {
        let &Self { sequences, before, new, seconds, launches } = self;
        let flops = Shape::of(model).pass(sequences, before, new, true).flops / seconds;
        let positions = (sequences * (before + new)) as f64;
        let bytes = weight_bytes(model, dtype) + positions * position_bytes(model);
        let bandwidth = bytes / seconds;
        format!(
            " {:.0} | {:.1} | {:.1} % | {:.1} | {:.1} % | {launches} |\n",
            (sequences * new) as f64 / seconds,
            flops / 1e9,
            100.0 * flops / roof.rate(model.dtype()),
            bandwidth / 1e9,
            100.0 * bandwidth / roof.bandwidth,
        )
    }
}

/// The bytes of the weights that a pass reads: all, but of an embedding that is no head only rows.
fn weight_bytes(model: &Model, dtype: Dtype) -> f64 {
    let config = model.config();
    let embedding = if config.tied_head {
        0
    } else {
        config.vocab_size * config.d_model
    };
    model.bytes() as f64 - embedding as f64 * bytes_of_embedding(dtype)
}

/// The bytes of a weight of the embedding. With its scale, a group of 32 integers has 34 bytes.
fn bytes_of_embedding(dtype: Dtype) -> f64 {
    let storage = dtype.storage();
    match storage.layers {
        Some(Quantized::Int8 | Quantized::Int4) => 34.0 / 32.0,
        None => storage.precision.dtype().size() as f64,
    }
}

/// The bytes of the keys and values of a position, in all layers.
fn position_bytes(model: &Model) -> f64 {
    model.kv_pool().block_bytes() as f64 / BLOCK as f64
}
