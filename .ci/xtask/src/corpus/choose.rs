//! The one source of chance, which also counts the information it gives out.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Makes every random choice of a story and adds up its information in bits.
#[derive(Debug, Clone)]
pub struct Chooser {
    rng: ChaCha8Rng,
    bits: f64,
}

impl Chooser {
    /// A chooser whose choices follow from `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), bits: 0.0 }
    }

    /// The sum of `-log2(probability)` over all choices made so far.
    pub fn bits(&self) -> f64 {
        self.bits
    }

    /// A number below `n`, each with the same probability.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "nothing to choose from");
        if n == 1 {
            return 0;
        }
        self.bits += (n as f64).log2();
        ((u128::from(self.rng.next_u64()) * n as u128) >> 64) as usize
    }

    /// One of `items`, each with the same probability.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// The index of one of `weights`, with probability proportional to it.
    pub fn index(&mut self, weights: &[u32]) -> usize {
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        assert!(total > 0, "nothing to choose from");
        let mut x = ((u128::from(self.rng.next_u64()) * u128::from(total)) >> 64) as u64;
        for (i, &w) in weights.iter().enumerate() {
            let w = u64::from(w);
            if x < w {
                self.bits -= (w as f64 / total as f64).log2();
                return i;
            }
            x -= w;
        }
        unreachable!("the weights add up to the total")
    }

    /// True with probability `percent / 100`.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.index(&[percent, 100 - percent]) == 0
    }
}
