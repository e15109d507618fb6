//! Random input that is the same in every run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in `[low, high)`.
    pub fn float(&mut self, low: f32, high: f32) -> f32 {
        let unit = (self.0.next_u32() >> 8) as f32 / (1 << 24) as f32;
        low + unit * (high - low)
    }

    /// Uniform in `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    /// `count` scores between -5 and 5.
    pub fn scores(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float(-5.0, 5.0)).collect()
    }
}
