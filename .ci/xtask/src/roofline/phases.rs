//! The cost and the time of prefill and decode.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use slowburn::generate::Options;
use slowburn::model::{Input, Logits, Model};

use super::cost::{Cost, Shape};
use crate::bench::{Workload, median};

/// A phase of a generation.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    Prefill {
        tokens: usize,
        chunk: usize,
    },
    Decode {
        sequences: usize,
        after: usize,
        steps: usize,
    },
}

/// Prefill and decode for each prompt length, and batched decode after the first. A length beyond
/// the context length is reduced to fit.
pub fn all(shape: &Shape, lengths: &[usize], steps: usize, batch: usize) -> Result<Vec<Phase>> {
    ensure!(steps >= 1, "decode takes a step at least");
    ensure!(
        steps < shape.context,
        "the context has {} tokens: there is no room for {steps} steps after a prompt",
        shape.context
    );
    let mut lengths: Vec<usize> =
        lengths.iter().map(|&tokens| tokens.clamp(1, shape.context - steps)).collect();
    lengths.dedup();
    let chunk = Options::default().chunk;
    let mut phases = Vec::new();
    for (place, tokens) in lengths.into_iter().enumerate() {
        phases.push(Phase::Prefill { tokens, chunk });
        phases.push(Phase::Decode { sequences: 1, after: tokens, steps });
        if place == 0 && batch > 1 {
            phases.push(Phase::Decode { sequences: batch, after: tokens, steps });
        }
    }
    Ok(phases)
}

impl Phase {
    pub fn name(&self) -> String {
        match self {
            Self::Prefill { tokens, .. } => format!("prefill of {tokens}"),
            Self::Decode { sequences: 1, after, .. } => format!("decode after {after}"),
            Self::Decode { sequences, after, .. } => {
                format!("decode after {after}, {sequences} at once")
            }
        }
    }

    /// The cost of all its forward passes.
    pub fn cost(&self, shape: &Shape) -> Cost {
        match *self {
            Self::Prefill { tokens, chunk } => (0..tokens)
                .step_by(chunk)
                .map(|before| {
                    let new = chunk.min(tokens - before);
                    shape.pass(1, before, new, before + new == tokens)
                })
                .sum(),
            Self::Decode { sequences, after, steps } => {
                (after..after + steps).map(|before| shape.pass(sequences, before, 1, true)).sum()
            }
        }
    }

    /// The time in seconds: the median of `rounds`, after an uncounted warm-up.
    pub fn measure(&self, model: &Model, rounds: usize) -> Result<f64> {
        self.time(model)?;
        let times = (0..rounds).map(|_| self.time(model)).collect::<Result<Vec<_>>>()?;
        Ok(median(times.iter().map(Duration::as_secs_f64)))
    }

    fn time(&self, model: &Model) -> Result<Duration> {
        let vocab = model.config().vocab_size;
        match *self {
            Self::Prefill { tokens, chunk } => {
                let prompt = Workload::new(tokens, 1, vocab).prompt;
                let mut cache = model.new_cache(tokens)?;
                let start = Instant::now();
                let last = prompt.chunks(chunk).count() - 1;
                for (place, part) in prompt.chunks(chunk).enumerate() {
                    let logits = if place == last {
                        Logits::Last
                    } else {
                        Logits::None
                    };
                    model.forward(&mut [Input::after(&mut cache, part).with_logits(logits)])?;
                }
                Ok(start.elapsed())
            }
            Self::Decode { sequences, after, steps } => {
                let prompt = Workload::new(after, 1, vocab).prompt;
                let (mut caches, mut next) = (Vec::new(), Vec::new());
                for sequence in 0..sequences {
                    // Each its own text, so that not all of them take the same experts.
                    let other = |id: &u32| ((*id as usize + sequence) % vocab) as u32;
                    let prompt: Vec<u32> = prompt.iter().map(other).collect();
                    let mut cache = model.new_cache(after + steps)?;
                    for part in prompt.chunks(Options::default().chunk) {
                        let input = Input::after(&mut cache, part).with_logits(Logits::None);
                        model.forward(&mut [input])?;
                    }
                    caches.push(cache);
                    next.push([prompt[0]]);
                }
                let start = Instant::now();
                for _ in 0..steps {
                    let inputs = caches.iter_mut().zip(&next);
                    let inputs = inputs.map(|(cache, next)| Input::after(cache, next));
                    model.forward(&mut inputs.collect::<Vec<_>>())?;
                }
                Ok(start.elapsed())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use slowburn::device::Precision;

    use super::super::cost::tests::shape;
    use super::*;
    use crate::bench::Ours;

    #[test]
    fn prompts_are_as_long_as_the_context_has_room_for() {
        let phases = all(&shape(), &[128, 600, 1800], 12, 8).unwrap();
        let names: Vec<String> = phases.iter().map(Phase::name).collect();
        let expected = [
            "prefill of 128",
            "decode after 128",
            "decode after 128, 8 at once",
            "prefill of 500",
            "decode after 500",
        ];
        assert_eq!(names, expected);
        assert!(all(&shape(), &[128], 512, 8).is_err());
    }

    #[test]
    fn a_prefill_in_chunks_reads_the_weights_for_each() {
        let cost = |chunk| Phase::Prefill { tokens: 10, chunk }.cost(&shape());
        let (whole, chunks) = (cost(10), cost(4));
        assert_eq!(whole, shape().pass(1, 0, 10, true));
        assert_eq!(chunks.flops, whole.flops);
        // The weights of the layers three times; keys and values of 4, 8 and 10 tokens.
        assert_eq!(chunks.bytes, 4.0 * (3.0 * 200.0 + 50.0 + 16.0 * (4.0 + 8.0 + 10.0)));
    }

    #[test]
    fn every_phase_takes_some_time() {
        let model = Ours::load(None, Precision::F32, 1).unwrap().model;
        for phase in all(&Shape::of(&model), &[9], 2, 3).unwrap() {
            assert!(phase.measure(&model, 1).unwrap() > 0.0, "{}", phase.name());
        }
    }
}
