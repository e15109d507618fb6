//! What a state still knows of the first value after others are written, next to attention, which keeps all.

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::kernels::{DeltaHeads, DeltaRows};

/// How many values are written after the first.
const LATER: [usize; 6] = [0, 4, 16, 64, 256, 1024];
/// How often each is tried, with other keys and values.
const TRIALS: u64 = 100;

/// What remembers.
#[derive(Clone, Copy)]
enum Memory {
    /// A state for keys and values of so many numbers, of which this share is left after each position.
    State { dim: usize, decay: f32 },
    /// All keys and values, of so many numbers.
    Attention { dim: usize },
}

const MEMORIES: [(&str, Memory); 4] = [
    ("state, 16", Memory::State { dim: 16, decay: 1.0 }),
    ("state, 64", Memory::State { dim: 64, decay: 1.0 }),
    ("64, fading", Memory::State { dim: 64, decay: 0.98 }),
    ("attention, 64", Memory::Attention { dim: 64 }),
];

/// A key and a value.
type Pair = [Vec<f32>; 2];

impl Memory {
    fn dim(self) -> usize {
        let (Self::State { dim, .. } | Self::Attention { dim }) = self;
        dim
    }

    /// Writes all pairs, and reads what is there for the first key.
    fn recall(self, pairs: &[Pair]) -> Vec<f32> {
        match self {
            Self::State { dim, decay } => {
                let heads =
                    DeltaHeads { key_heads: 1, value_heads: 1, key_dim: dim, value_dim: dim };
                let mut state = vec![0.0; dim * dim];
                let mut read = Vec::new();
                for [key, value] in pairs {
                    let qkv = [&pairs[0][0][..], key, value].concat(); // each asks for the first
                    let rows = DeltaRows { qkv: &qkv, decay: &[decay], strength: &[1.0] };
                    read = heads.forward(&mut state, rows);
                }
                read.iter().map(|number| number * (dim as f32).sqrt()).collect()
            }
            Self::Attention { dim } => attention(pairs, (dim as f32).sqrt()),
        }
    }
}

/// Attention with the first key as its query. The score of that key is `sharpness`, as if norms had made queries and
/// keys `sqrt(dim)` long.
fn attention(pairs: &[Pair], sharpness: f32) -> Vec<f32> {
    let query = &pairs[0][0];
    let weights: Vec<f32> =
        pairs.iter().map(|[key, _]| (sharpness * (product(query, key) - 1.0)).exp()).collect();
    let sum: f32 = weights.iter().sum();
    let mut mean = vec![0.0; query.len()];
    for (weight, [_, value]) in weights.iter().zip(pairs) {
        mean.iter_mut().zip(value).for_each(|(mean, value)| *mean += weight / sum * value);
    }
    mean
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A random direction: a vector of length 1.
fn direction(random: &mut ChaCha8Rng, dim: usize) -> Vec<f32> {
    // The sum of a few uniform numbers is nearly normal, so no direction is likelier than another.
    let mut uniform = || random.next_u32() as f32 / u32::MAX as f32 - 0.5;
    let numbers: Vec<f32> = (0..dim).map(|_| (0..8).map(|_| uniform()).sum()).collect();
    let length = product(&numbers, &numbers).sqrt();
    numbers.iter().map(|number| number / length).collect()
}

/// How much of the first value is read after others were written, and how often it is the nearest of all values,
/// on average.
fn first_after(later: usize, memory: Memory) -> [f32; 2] {
    let (mut left, mut found) = (0.0, 0.0);
    for trial in 0..TRIALS {
        let mut random = ChaCha8Rng::seed_from_u64(trial);
        let mut some = || direction(&mut random, memory.dim());
        let pairs: Vec<Pair> = (0..=later).map(|_| [some(), some()]).collect();
        let read = memory.recall(&pairs);
        let nearness = |[_, value]: &Pair| product(&read, value);
        let first = nearness(&pairs[0]);
        left += first;
        found += f32::from(u8::from(pairs[1..].iter().all(|pair| nearness(pair) < first)));
    }
    [left, found].map(|sum| sum / TRIALS as f32)
}

pub(super) fn text() -> String {
    let mut out =
        String::from("What is left of the first value, and how often it is the nearest\n\n");
    let heads: String = MEMORIES.iter().map(|(name, _)| format!("{name:>16}")).collect();
    let _ = writeln!(out, "{:<12}{heads}", "later writes");
    for later in LATER {
        let cells = MEMORIES.map(|(_, memory)| {
            let [left, found] = first_after(later, memory);
            format!("{left:>9.2}{:>5.0} %", 100.0 * found)
        });
        let _ = writeln!(out, "{later:<12}{}", cells.concat());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write leaves of other keys what is at right angles to it: `1 - 1 / dim`, for a random one.
    #[test]
    fn a_state_forgets_by_the_number_of_its_rows() {
        let [left, _] = first_after(16, Memory::State { dim: 16, decay: 1.0 });
        assert!((left - (1.0 - 1.0 / 16.0_f32).powi(16)).abs() < 0.06, "{left}");
        let [at_once, found] = first_after(0, Memory::State { dim: 16, decay: 1.0 });
        assert!((at_once - 1.0).abs() < 1e-3 && found == 1.0, "{at_once}");
    }
}
