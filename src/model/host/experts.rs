//! Mixture of experts on the CPU: only what was chosen is computed.

use super::gated::{Gated, GatedScratch};
use super::{Linear, Stop, Watch, linear};
use crate::error::Result;
use crate::model::config::{self, ModelConfig};
use crate::model::source::{Role, Source};

/// As [`experts`](crate::model::experts) defines them.
#[derive(Debug)]
pub(super) struct Experts {
    router: Linear,
    experts: Vec<Gated>,
    per_token: usize,
    renormalized: bool,
}

impl Experts {
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        experts: &config::Experts,
    ) -> Result<Self> {
        let (router, networks) = experts.load(
            (layer, config.d_model),
            |name, shape| Linear::load(weights, name, shape, Role::Router, experts.bias),
            |places| Gated::load(weights, places, config, experts.d_ff, experts.bias),
        )?;
        Ok(Self {
            router,
            experts: networks,
            per_token: experts.per_token,
            renormalized: experts.renormalized,
        })
    }

    /// `x` is `[seq, d_model]`, and so is what `y` becomes. The rows that go to an expert are computed
    /// together, so that its weights are read once; an expert that no row goes to is not read.
    ///
    /// A row adds what its experts computed in the order of their numbers, so that its bits do not
    /// depend on the other rows.
    pub(super) fn forward(
        &self,
        x: &[f32],
        seq: usize,
        y: &mut Vec<f32>,
        scratch: &mut GatedScratch,
        watch: &mut Watch<'_>,
    ) {
        let mut routing = Vec::new();
        linear([&self.router], x, seq, [&mut routing]);
        for scores in routing.chunks_exact_mut(self.experts.len()) {
            route(scores, self.per_token, self.renormalized);
        }
        watch(Stop::Routing, &routing);

        let width = x.len() / seq;
        y.clear();
        y.resize(x.len(), 0.0);
        // ANCHOR: rows
        let (mut rows, mut outputs) = (Vec::new(), Vec::new());
        for (i, expert) in self.experts.iter().enumerate() {
            let chosen = rows_of(&routing, self.experts.len(), i);
            if chosen.is_empty() {
                continue;
            }
            rows.clear();
            for (row, _) in &chosen {
                rows.extend_from_slice(&x[row * width..(row + 1) * width]);
            }
            expert.forward(&rows, chosen.len(), &mut outputs, scratch, &mut |_, _| {});
            for ((row, weight), output) in chosen.iter().zip(outputs.chunks_exact(width)) {
                let y = &mut y[row * width..(row + 1) * width];
                y.iter_mut().zip(output).for_each(|(y, output)| *y += weight * output);
            }
        }
        // ANCHOR_END: rows
    }
}

// ANCHOR: route
/// Replaces the scores of the experts for one token by their weights: the softmax of the scores where
/// an expert is among the `per_token` greatest, and 0 elsewhere. Of equal scores, the first is greater.
/// `renormalized` scales the weights so that their sum is 1.
fn route(scores: &mut [f32], per_token: usize, renormalized: bool) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    // `libm` gives the same bits on every machine.
    let share = |score: &f32| libm::exp(f64::from(score - greatest));
    let sum: f64 = scores.iter().map(share).sum();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a])); // stable
    let (chosen, others) = order.split_at(per_token.min(scores.len()));
    let of_chosen: f64 = chosen.iter().map(|&expert| share(&scores[expert])).sum();
    let sum = if renormalized { of_chosen } else { sum };
    for &expert in chosen {
        scores[expert] = (share(&scores[expert]) / sum) as f32;
    }
    for &expert in others {
        scores[expert] = 0.0;
    }
}
// ANCHOR_END: route

/// The rows that take an expert, and its weight in each. `routing` is `[seq, experts]`.
fn rows_of(routing: &[f32], experts: usize, expert: usize) -> Vec<(usize, f32)> {
    let weights = routing.iter().skip(expert).step_by(experts).copied().enumerate();
    weights.filter(|(_, weight)| *weight != 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_greatest_scores() {
        let scores = [1.0_f32, 3.0, 2.0, 3.0];
        let exp = scores.map(f32::exp);
        let sum: f32 = exp.iter().sum();
        let mut shares = scores;
        route(&mut shares, 2, false);
        for (share, expected) in shares.iter().zip([0.0, exp[1] / sum, 0.0, exp[3] / sum]) {
            assert!((share - expected).abs() < 1e-6, "{shares:?}");
        }
        let mut weights = scores;
        route(&mut weights, 3, true);
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6 && weights[0] == 0.0);
        // The first of two equal scores.
        let mut one = scores;
        route(&mut one, 1, true);
        assert_eq!(one, [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn rows_are_grouped_by_expert() {
        let routing = [0.5, 0.5, 0.0, 0.0, 0.25, 0.75];
        assert_eq!(rows_of(&routing, 3, 0), [(0, 0.5)]);
        assert_eq!(rows_of(&routing, 3, 1), [(0, 0.5), (1, 0.25)]);
        assert_eq!(rows_of(&routing, 3, 2), [(1, 0.75)]);
    }
}
