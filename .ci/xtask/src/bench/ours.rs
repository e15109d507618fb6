//! Slow Burn itself, through its public generation loops.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use slowburn::device::{self, DeviceChoice};
use slowburn::generate::{self, Options};
use slowburn::kernels::{Cpu, Simd};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use super::dtype::Dtype;
use super::measured::{Measured, Workload};

/// A loaded model.
pub struct Ours {
    pub dtype: Dtype,
    pub model: Model,
}

impl Ours {
    /// Loads the model in `folder`, or the bundled one, for `threads` threads.
    pub fn load(folder: Option<&Path>, dtype: impl Into<Dtype>, threads: usize) -> Result<Self> {
        let dtype = dtype.into();
        let device = device::open(DeviceChoice::Cpu)?;
        let cpu = Cpu::new(Simd::detect(), threads)?;
        let pretrained = cpu.enter(|| match folder {
            Some(folder) => Pretrained::load(folder, &device, dtype.storage()),
            None => Pretrained::bundled(&device, dtype.storage()),
        })?;
        Ok(Self { dtype, model: pretrained.model.with_kv_format(dtype.kv())? })
    }

    pub fn alone(&self, workload: &Workload) -> Result<Measured> {
        let options = greedy(workload.new_tokens);
        let start = Instant::now();
        let mut prefill = None;
        let generation = generate::cached(&self.model, &workload.prompt, &options, &mut |_| {
            prefill.get_or_insert_with(|| start.elapsed());
            ControlFlow::Continue(())
        })?;
        let prefill = prefill.context("nothing was generated")?;
        let decode = start.elapsed() - prefill;
        Ok(Measured::new(prefill, decode, generation.ids))
    }

    /// Generates a batch of `sequences`, the first with the workload's prompt, the others with
    /// rotations of it. The equal lengths give all sequences their first token in the same forward
    /// pass.
    pub fn batch(&self, workload: &Workload, sequences: usize) -> Result<Measured> {
        let prompts: Vec<Vec<u32>> = (0..sequences)
            .map(|shift| {
                let mut prompt = workload.prompt.clone();
                prompt.rotate_left(shift % workload.prompt.len());
                prompt
            })
            .collect();
        let options = vec![greedy(workload.new_tokens); sequences];
        let start = Instant::now();
        let (mut prefill, mut arrived) = (Duration::ZERO, 0);
        let generations = generate::batched(&self.model, &prompts, &options, &mut |_, _| {
            arrived += 1;
            if arrived == sequences {
                prefill = start.elapsed();
            }
            ControlFlow::Continue(())
        })?;
        let decode = start.elapsed() - prefill;
        let first = generations.into_iter().next().context("nothing was generated")?;
        Ok(Measured::new(prefill, decode, first.ids))
    }
}

/// Greedy decoding that ignores end tokens.
pub fn greedy(max_tokens: usize) -> Options {
    Options {
        max_tokens,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ignore_eos: true,
        ..Options::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_batch_is_the_one_alone() {
        let ours = Ours::load(None, Dtype::F32, 1).unwrap();
        let workload = Workload { prompt: vec![5, 300, 7, 45], new_tokens: 6 };
        let (alone, batch) = (ours.alone(&workload).unwrap(), ours.batch(&workload, 3).unwrap());
        assert_eq!(alone.ids.len(), 6);
        assert_eq!(alone.ids, batch.ids);
        assert!(batch.prefill > 0.0 && batch.decode > 0.0);
    }
}
