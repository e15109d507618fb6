//! The workload of a contender, and its measured times.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A generation to be measured.
#[derive(Debug, Clone, Serialize)]
pub struct Workload {
    pub prompt: Vec<u32>,
    /// The number of tokens to generate, greedily and ignoring end tokens.
    pub new_tokens: usize,
}

/// One generation, timed.
#[derive(Debug, Clone, Deserialize)]
pub struct Measured {
    /// Seconds until the first new token.
    pub prefill: f64,
    /// Seconds for all further tokens.
    pub decode: f64,
    /// The new tokens; for a batch, those of the first sequence.
    pub ids: Vec<u32>,
}

/// The phases of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Prefill,
    Decode,
}

impl Workload {
    /// A prompt of arbitrary but varied ids.
    pub fn new(prompt_tokens: usize, new_tokens: usize, vocab: usize) -> Self {
        let prompt = (0..prompt_tokens).map(|i| (7919 * (i + 1) % vocab) as u32).collect();
        Self { prompt, new_tokens }
    }
}

impl Measured {
    pub fn new(prefill: Duration, decode: Duration, ids: Vec<u32>) -> Self {
        Self {
            prefill: prefill.as_secs_f64(),
            decode: decode.as_secs_f64(),
            ids,
        }
    }

    /// Tokens per second of one sequence: prompt tokens, or new tokens after the first.
    pub fn rate(&self, phase: Phase, workload: &Workload) -> f64 {
        match phase {
            Phase::Prefill => workload.prompt.len() as f64 / self.prefill,
            Phase::Decode => (workload.new_tokens - 1) as f64 / self.decode,
        }
    }
}

/// The middle value, or the mean of the two middle values; NaN if there are none.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 20.0].into_iter()), 3.0);
        assert_eq!(median([4.0, 1.0, 20.0, 3.0].into_iter()), 3.5);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn the_first_new_token_belongs_to_prefill() {
        let workload = Workload { prompt: vec![1; 100], new_tokens: 11 };
        let measured = Measured { prefill: 0.5, decode: 2.0, ids: vec![0; 11] };
        assert_eq!(measured.rate(Phase::Prefill, &workload), 200.0);
        assert_eq!(measured.rate(Phase::Decode, &workload), 5.0);
    }

    #[test]
    fn the_ids_of_a_workload_are_in_the_vocabulary_and_differ() {
        let workload = Workload::new(1800, 2, 49_152);
        assert!(workload.prompt.iter().all(|id| *id < 49_152));
        let ids: std::collections::HashSet<_> = workload.prompt.iter().collect();
        assert_eq!(ids.len(), 1800);
    }
}
