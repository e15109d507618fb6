//! The gated delta rule (Yang et al., Gated Delta Networks, arXiv 2412.06464), position by position.

use super::disjoint::Disjoint;
use super::elementwise::{in_rows, sum_of};
use super::simd::{Isa, Kernel, fma};

/// What a layer makes of the positions of a sequence: a query and a key for each of its key heads, and for each
/// value head a value and how it changes the state.
#[derive(Debug, Clone, Copy)]
pub struct DeltaRows<'a> {
    /// The queries of all key heads, their keys, and the values of all value heads:
    /// `[seq, 2 * key_heads * key_dim + value_heads * value_dim]`.
    pub qkv: &'a [f32],
    /// What is left of the state, `[seq, value_heads]`.
    pub decay: &'a [f32],
    /// How much of a value is written, `[seq, value_heads]`.
    pub strength: &'a [f32],
}

/// The heads of the rule. A key head serves `value_heads / key_heads` value heads that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaHeads {
    /// How many heads have queries and keys.
    pub key_heads: usize,
    /// How many have values, and a state.
    pub value_heads: usize,
    /// The length of a query or a key.
    pub key_dim: usize,
    /// The length of a value.
    pub value_dim: usize,
}

impl DeltaHeads {
    /// The numbers of a state, `[value_heads, key_dim, value_dim]`.
    pub(crate) fn state(self) -> usize {
        self.value_heads * self.key_dim * self.value_dim
    }

    /// The numbers of queries, keys and values of a position.
    pub(crate) fn channels(self) -> usize {
        2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim
    }

    /// Reads the values that queries ask for, after each position has changed the state: `[seq, value_heads *
    /// value_dim]`.
    ///
    /// A state is a matrix that maps keys to values. A position lets it fade, takes the value that it has for its
    /// key, and adds what is missing to its own value. Queries and keys are scaled to the length 1 first, and what
    /// is read is divided by the square root of `key_dim`.
    ///
    /// # Panics
    /// Where `state` or `rows` have other lengths than these heads.
    pub fn forward(self, state: &mut [f32], rows: DeltaRows<'_>) -> Vec<f32> {
        let seq = rows.decay.len() / self.value_heads;
        let head = self.key_dim * self.value_dim;
        let changes = seq * self.value_heads;
        assert!(
            state.len() == self.state()
                && rows.qkv.len() == seq * self.channels()
                && [rows.decay.len(), rows.strength.len()] == [changes; 2],
            "a state or rows of other heads than {self:?}"
        );
        let mut mixed = vec![0.0; seq * self.value_heads * self.value_dim];
        let (states, values) = (Disjoint::new(state), Disjoint::new(&mut mixed));
        in_rows(self.value_heads, seq * head, |heads| Heads {
            // SAFETY: `in_rows` gives each head to one task.
            states: unsafe { states.part(heads.start * head..heads.end * head) },
            first: heads.start,
            mixed: &values,
            shape: self,
            rows,
        });
        mixed
    }
}

/// Some value heads, from `first` on.
struct Heads<'a> {
    states: &'a mut [f32],
    first: usize,
    /// Of all heads.
    mixed: &'a Disjoint<'a, f32>,
    shape: DeltaHeads,
    rows: DeltaRows<'a>,
}

impl Kernel for Heads<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { states, first, mixed, shape, rows } = self;
        let DeltaHeads { key_heads, value_heads, key_dim, value_dim } = shape;
        let (keys, values) = (key_heads * key_dim, value_heads * value_dim);
        let scale = 1.0 / (key_dim as f32).sqrt();
        let (mut q, mut k) = (vec![0.0; key_dim], vec![0.0; key_dim]);
        let mut delta = vec![0.0; value_dim];
        for (head, state) in (first..).zip(states.chunks_exact_mut(key_dim * value_dim)) {
            let key_head = head / (value_heads / key_heads) * key_dim;
            for (i, qkv) in rows.qkv.chunks_exact(2 * keys + values).enumerate() {
                let (decay, strength) =
                    (rows.decay[i * value_heads + head], rows.strength[i * value_heads + head]);
                unit(&qkv[key_head..][..key_dim], scale, &mut q);
                unit(&qkv[keys + key_head..][..key_dim], 1.0, &mut k);
                let value = &qkv[2 * keys + head * value_dim..][..value_dim];
                // ANCHOR: step
                delta.fill(0.0);
                for (state, k) in state.chunks_exact_mut(value_dim).zip(&k) {
                    for (known, state) in delta.iter_mut().zip(state) {
                        *state *= decay;
                        *known = fma(*state, *k, *known);
                    }
                }
                for (delta, value) in delta.iter_mut().zip(value) {
                    *delta = (value - *delta) * strength;
                }
                let at = i * values + head * value_dim;
                // SAFETY: no other task has this head.
                let mixed = unsafe { mixed.part(at..at + value_dim) };
                for ((state, k), q) in state.chunks_exact_mut(value_dim).zip(&k).zip(&q) {
                    for ((mixed, state), delta) in mixed.iter_mut().zip(state).zip(&delta) {
                        *state = fma(*k, *delta, *state);
                        *mixed = fma(*state, *q, *mixed);
                    }
                }
                // ANCHOR_END: step
            }
        }
    }
}

/// `x`, scaled to this length.
#[inline(always)]
fn unit(x: &[f32], length: f32, y: &mut [f32]) {
    /// What is added to the square of the length of `x`.
    const EPS: f32 = 1e-6;
    let square = sum_of(x, |sum, x| fma(x, x, sum));
    let factor = length / (square + EPS).sqrt();
    for (y, x) in y.iter_mut().zip(x) {
        *y = x * factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: DeltaHeads = DeltaHeads { key_heads: 1, value_heads: 2, key_dim: 2, value_dim: 1 };

    fn rows<'a>(qkv: &'a [f32], decay: &'a [f32], strength: &'a [f32]) -> DeltaRows<'a> {
        DeltaRows { qkv, decay, strength }
    }

    /// A value is found again by its key, and replaced under the same key; what fades is half as much.
    #[test]
    fn a_state_maps_keys_to_values() {
        let mut state = vec![0.0; HEADS.state()];
        let root = 2f32.sqrt(); // queries are divided by it
        // The query, the key, and a value for each head.
        let qkv = [
            [root, 0.0, 1.0, 0.0, 3.0, 5.0],
            [root, 0.0, 0.0, 1.0, 7.0, 7.0],
            [root, 0.0, 1.0, 0.0, 4.0, 6.0],
        ];
        let (decay, strength) = ([1.0, 1.0, 1.0, 0.5, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]);
        let found = HEADS.forward(&mut state, rows(&qkv.concat(), &decay, &strength));
        let expected = [3.0, 5.0, 3.0, 2.5, 4.0, 4.25].map(|value: f32| value / root);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }

    #[test]
    fn positions_may_come_one_by_one() {
        let qkv: Vec<f32> = (0..30).map(|i| (i * i % 7) as f32 - 3.0).collect();
        let decay: Vec<f32> = (1..=10).map(|i| 1.0 / i as f32).collect();
        let strength: Vec<f32> = decay.iter().rev().copied().collect();
        let mut state = vec![0.0; HEADS.state()];
        let all = HEADS.forward(&mut state, rows(&qkv, &decay, &strength));
        let mut other = vec![0.0; HEADS.state()];
        for i in 0..5 {
            let row =
                rows(&qkv[6 * i..6 * i + 6], &decay[2 * i..2 * i + 2], &strength[2 * i..2 * i + 2]);
            let found = HEADS.forward(&mut other, row);
            assert_eq!(found, all[2 * i..2 * i + 2]);
        }
        assert_eq!(state, other);
    }
}
