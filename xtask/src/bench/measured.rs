//! What a contender is asked for, and what it took.

use serde::{Deserialize, Serialize};

/// A generation that is asked for.
#[derive(Debug, Serialize)]
pub struct Workload {
    pub prompt: Vec<u32>,
    /// How many tokens to generate, the most likely one at each step, whatever they are.
    pub new_tokens: usize,
}

/// One generation, timed.
#[derive(Debug, Deserialize)]
pub struct Measured {
    /// Seconds until the first new token was known.
    pub prefill: f64,
    /// Seconds for all others.
    pub decode: f64,
    /// The new tokens.
    pub ids: Vec<u32>,
}

impl Measured {
    /// Prompt tokens per second.
    pub fn prefill_rate(&self, workload: &Workload) -> f64 {
        workload.prompt.len() as f64 / self.prefill
    }

    /// New tokens per second, after the first.
    pub fn decode_rate(&self, workload: &Workload) -> f64 {
        (workload.new_tokens - 1) as f64 / self.decode
    }
}

/// The value in the middle, or the mean of the two there; NaN where there are none.
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
        assert_eq!(measured.prefill_rate(&workload), 200.0);
        assert_eq!(measured.decode_rate(&workload), 5.0);
    }
}
