//! Online softmax: attention one tile after the other, without a row of all scores.
//!
//! Why: `exp(score - greatest)` is all that a softmax needs, and a change of the greatest is one
//! factor for everything so far: `exp(s - b) = exp(s - a) * exp(a - b)`. So three fields are
//! enough, however long the context is.
//!
//! What it costs: one more `exp` for each tile, and `head_dim` products.
//!
//! A common wrong turn: scaling the weighted values and forgetting the sum of the weights. And
//! before the first score that is seen, both greatest ones are minus infinity, whose difference is
//! NaN.

/// What you know about one query after some tiles.
pub struct Running {
    greatest: f32,
    sum: f32,
    weighted: Vec<f32>,
}

impl Running {
    /// No tile yet.
    pub fn new(head_dim: usize) -> Self {
        Self {
            greatest: f32::NEG_INFINITY,
            sum: 0.0,
            weighted: vec![0.0; head_dim],
        }
    }

    /// Takes in the next tile: `scores` is `[positions]`, `values` is `[positions][head_dim]`.
    pub fn push(&mut self, scores: &[f32], values: &[Vec<f32>]) {
        let greatest = scores.iter().copied().fold(self.greatest, f32::max);
        if greatest == f32::NEG_INFINITY {
            return; // nothing was seen yet
        }
        let scale = (self.greatest - greatest).exp();
        self.greatest = greatest;
        self.sum *= scale;
        self.weighted.iter_mut().for_each(|number| *number *= scale);
        for (score, value) in scores.iter().zip(values) {
            let weight = (score - greatest).exp();
            self.sum += weight;
            for (total, number) in self.weighted.iter_mut().zip(value) {
                *total += weight * number;
            }
        }
    }

    /// The mean of all values, weighted by the softmax of all scores: `[head_dim]`.
    pub fn mean(&self) -> Vec<f32> {
        self.weighted.iter().map(|number| number / self.sum).collect()
    }
}
