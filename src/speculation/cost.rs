//! What passes of several rows cost on this machine.

use std::time::Instant;

use crate::error::Result;
use crate::model::{Input, Logits, Model};

/// The most rows that are measured.
const MOST_ROWS: usize = 12;

/// The tokens in the KV cache before the rows that are measured.
const CONTEXT: usize = 32;

/// How often each is measured. The fastest counts: others were disturbed.
const ROUNDS: usize = 5;

/// The time of a pass by its number of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct PassCosts {
    /// In seconds, of 1 row, 2 rows and so on.
    seconds: Vec<f64>,
}

impl PassCosts {
    /// Costs that are known, in any unit: of 1 row, 2 rows and so on. At least one.
    #[cfg(test)]
    pub(super) fn known(costs: &[f64]) -> Self {
        Self { seconds: costs.to_vec() }
    }

    /// Measures passes of 1 to 12 rows behind a short text.
    ///
    /// # Errors
    /// Those of the passes.
    pub fn measure(model: &Model) -> Result<Self> {
        let context_length = model.config().context_length;
        let context = CONTEXT.min(context_length / 2);
        let most = MOST_ROWS.min(context_length - context);
        let mut cache = model.new_cache(context + most)?;
        model.forward(&mut [Input::after(&mut cache, &vec![0; context.max(1)])])?;
        let start = cache.length();
        let mut seconds = vec![f64::INFINITY; most];
        for _ in 0..ROUNDS {
            for (index, fastest) in seconds.iter_mut().enumerate() {
                let rows = vec![0; index + 1];
                let clock = Instant::now();
                let input = Input::after(&mut cache, &rows).with_logits(Logits::All);
                model.forward(&mut [input])?;
                *fastest = fastest.min(clock.elapsed().as_secs_f64());
                cache.truncate(start);
            }
        }
        Ok(Self { seconds })
    }

    /// The time of a pass of so many rows, in seconds. Beyond those that were measured, each row costs
    /// as much as the last ones did on average.
    pub fn of(&self, rows: usize) -> f64 {
        let (first, last) = (self.seconds[0], self.seconds[self.seconds.len() - 1]);
        match self.seconds.get(rows.max(1) - 1) {
            Some(&seconds) => seconds,
            None => {
                let slope = (last - first).max(0.0) / (self.seconds.len() - 1).max(1) as f64;
                last + slope * (rows - self.seconds.len()) as f64
            }
        }
    }

    /// The costs of 1 row, 2 rows and so on, in units of the first.
    pub fn relative(&self) -> Vec<f64> {
        self.seconds.iter().map(|seconds| seconds / self.seconds[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_what_was_measured_costs_go_on_as_they_grew() {
        let costs = PassCosts::known(&[2.0, 2.5, 3.0]);
        assert_eq!([0, 1, 2, 3, 5].map(|rows| costs.of(rows)), [2.0, 2.0, 2.5, 3.0, 4.0]);
        assert_eq!(costs.relative(), [1.0, 1.25, 1.5]);
        assert_eq!(PassCosts::known(&[2.0]).of(9), 2.0);
    }
}
