//! How many experts a batch takes, and what a step reads.

use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::kernels::trace::{Call, Operation};

use super::shapes::Mixture;

/// What was counted of a model with experts.
#[derive(Debug, Clone)]
pub struct ExpertsRun {
    pub(super) mixture: Mixture,
    /// For each layer, the experts that the last token of each text takes.
    taken: Vec<Vec<Vec<usize>>>,
    pub(super) batches: Vec<BatchBytes>,
}

/// What a step of a batch reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchBytes {
    pub(super) size: usize,
    /// The bytes of the matrix products: of the model with experts, of the dense one that does the same
    /// work for a token, and of the dense one of the same size.
    bytes: [u64; 3],
}

impl ExpertsRun {
    /// Nothing is counted yet.
    pub fn new(mixture: Mixture) -> Self {
        Self { mixture, taken: Vec::new(), batches: Vec::new() }
    }

    /// Notes which experts the last token of a text takes, from the weights of all experts for each of its
    /// tokens: for each layer `[seq, experts]`.
    pub fn routed(&mut self, routing: &[Vec<f32>]) {
        self.taken.resize(routing.len(), Vec::new());
        for (taken, weights) in self.taken.iter_mut().zip(routing) {
            let last = &weights[weights.len() - self.mixture.count..];
            let experts = last.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
            taken.push(experts.map(|(expert, _)| expert).collect());
        }
    }

    /// Notes the kernel calls of a step of `size` sequences, for each of the three models.
    pub fn decoded(&mut self, size: usize, calls: [Vec<Call>; 3]) {
        let is_product = |call: &&Call| call.operation == Operation::Linear;
        let bytes =
            calls.map(|calls| calls.iter().filter(is_product).map(|call| call.cost.bytes).sum());
        self.batches.push(BatchBytes { size, bytes });
    }

    pub(super) fn name(&self) -> String {
        format!("experts_{}", self.mixture.count)
    }

    /// How many experts of a layer a batch takes on average, over all batches that the texts make.
    pub(super) fn measured(&self, size: usize) -> f64 {
        let mut distinct = Vec::new();
        for layer in &self.taken {
            for batch in layer.chunks_exact(size) {
                let mut experts = batch.concat();
                experts.sort_unstable();
                experts.dedup();
                distinct.push(experts.len());
            }
        }
        distinct.iter().sum::<usize>() as f64 / distinct.len().max(1) as f64
    }

    /// How many times as many tokens a batch gets for a byte as a text alone, for each of the models.
    pub(super) fn gains(&self, batch: &BatchBytes) -> [f64; 3] {
        let alone = self.batches.first().map_or(batch.bytes, |first| first.bytes);
        std::array::from_fn(|i| batch.size as f64 * alone[i] as f64 / batch.bytes[i] as f64)
    }

    /// The shares that the experts of a layer have of all choices, from the least to the greatest, over all
    /// layers.
    fn shares(&self) -> Vec<f64> {
        let mut shares = Vec::new();
        for layer in &self.taken {
            let all: usize = layer.iter().map(Vec::len).sum();
            for expert in 0..self.mixture.count {
                let chosen = layer.iter().filter(|taken| taken.contains(&expert)).count();
                shares.push(chosen as f64 / all.max(1) as f64);
            }
        }
        shares.sort_by(f64::total_cmp);
        shares
    }

    pub(super) fn text_and_json(&self) -> (String, Value) {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{:<5}{:>17}{:>19}{:>19}{:>19}\n{:<5}{:>9}{:>8}{pair}{pair}{pair}",
            "",
            "experts taken",
            "this model",
            "dense, same work",
            "dense, same size",
            "batch",
            "expected",
            "counted",
            pair = format!("{:>12}{:>7}", "MB read", "gain"),
        );
        let mut rows = Vec::new();
        for batch in &self.batches {
            let expected = self.mixture.expected(batch.size);
            let measured = self.measured(batch.size);
            let gains = self.gains(batch);
            let cell = |i: usize| format!("{:>12.2}{:>7.1}", batch.bytes[i] as f64 / 1e6, gains[i]);
            let cells: String = (0..3).map(cell).collect();
            let _ = writeln!(out, "{:<5}{expected:>9.1}{measured:>8.1}{cells}", batch.size);
            rows.push(json!({
                "batch": batch.size,
                "expected": expected,
                "counted": measured,
                "bytes": batch.bytes,
                "gains": gains,
            }));
        }
        let shares = self.shares();
        let (least, most) = (shares.first().unwrap_or(&0.0), shares.last().unwrap_or(&0.0));
        let _ = writeln!(
            out,
            "\nOf all choices in a layer an expert has {:.1} % to {:.1} %; {:.1} % would be even.",
            100.0 * least,
            100.0 * most,
            100.0 / self.mixture.count as f64,
        );
        (out, json!({ "batches": rows, "least_share": least, "greatest_share": most }))
    }
}

/// What is counted, of a mixture.
pub(super) fn title(mixture: Mixture) -> String {
    let Mixture { count, per_token, .. } = mixture;
    format!("{count} experts, {per_token} for each token")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experts_are_counted_once_for_a_batch() {
        let mut run = ExpertsRun::new(Mixture { count: 3, per_token: 1, d_ff: 1 });
        // One layer; the earlier token of each text does not count.
        for last in [
            [0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
        ] {
            run.routed(&[[&[1.0, 0.0, 0.0][..], &last].concat()]);
        }
        assert_eq!(run.measured(1), 1.0);
        assert_eq!(run.measured(2), 1.5);
        assert_eq!(run.measured(4), 3.0);
        assert_eq!(run.shares(), [0.25, 0.25, 0.5]);
        assert!((run.mixture.expected(2) - 5.0 / 3.0).abs() < 1e-12);
    }
}
