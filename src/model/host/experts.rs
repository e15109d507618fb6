//! Mixture of experts on the CPU: only what was chosen is computed.

use super::gated::GatedScratch;
use super::{Linear, Stop, Watch, linear};
use crate::activation::Activation;
use crate::kernels::recorded;
use crate::model::adapted::Rows;
use crate::model::config::{self, ExpertGate};
use crate::model::experts::Experts;

impl Experts<Linear, Vec<f32>> {
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
        self.forward_by([x, x], seq, y, scratch, watch);
    }

    /// As [`forward`](Self::forward), where the router reads other numbers than the experts.
    pub(super) fn forward_by(
        &self,
        [routed, x]: [&[f32]; 2],
        seq: usize,
        y: &mut Vec<f32>,
        scratch: &mut GatedScratch,
        watch: &mut Watch<'_>,
    ) {
        let mut routing = Vec::new();
        linear([&self.router], routed, &Rows::plain(seq), [&mut routing]);
        let rule = Routing {
            experts: &self.config,
            correction: self.correction.as_deref().unwrap_or_default(),
            factors: self.factors.as_deref().unwrap_or_default(),
        };
        routing.chunks_exact_mut(self.experts.len()).for_each(|scores| rule.route(scores));
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
            expert.forward(
                &rows,
                &Rows::plain(chosen.len()),
                &mut outputs,
                scratch,
                &mut |_, _| {},
            );
            for ((row, weight), output) in chosen.iter().zip(outputs.chunks_exact(width)) {
                let y = &mut y[row * width..(row + 1) * width];
                y.iter_mut().zip(output).for_each(|(y, output)| *y += weight * output);
            }
        }
        // ANCHOR_END: rows
        if let Some(shared) = &self.shared {
            shared.forward(x, &Rows::plain(seq), &mut outputs, scratch, &mut |_, _| {});
            if let Some(gate) = &self.shared_gate {
                linear([gate], x, &Rows::plain(seq), [&mut rows]);
                recorded::activate(&mut rows, Activation::Sigmoid);
                for (output, gate) in outputs.chunks_exact_mut(width).zip(&rows) {
                    output.iter_mut().for_each(|output| *output *= gate);
                }
            }
            y.iter_mut().zip(&outputs).for_each(|(y, output)| *y += output);
        }
    }
}

/// How tokens are sent to experts.
struct Routing<'a> {
    experts: &'a config::Experts,
    /// `[experts]`, or empty.
    correction: &'a [f32],
    /// `[experts]`, or empty.
    factors: &'a [f32],
}

impl Routing<'_> {
    // ANCHOR: route
    /// Replaces the scores of the experts for one token by their weights, which are 0 for those that it does
    /// not take. It takes the `per_token` greatest. Of equal scores, the first is greater.
    fn route(&self, scores: &mut [f32]) {
        let experts = self.experts;
        let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // `libm` gives the same bits on every machine.
        let share = |score: &f32| match experts.gate {
            ExpertGate::Softmax => libm::exp(f64::from(score - greatest)),
            ExpertGate::Sigmoid => 1.0 / (1.0 + libm::exp(-f64::from(*score))),
        };
        let shares: Vec<f64> = scores.iter().map(share).collect();
        let order = self.order(scores, &shares);
        let (chosen, others) = order.split_at(experts.per_token.min(scores.len()));
        let sum: f64 = match experts.gate {
            _ if experts.renormalized => {
                let sum: f64 = chosen.iter().map(|&expert| shares[expert]).sum();
                sum + experts.least_sum
            }
            ExpertGate::Softmax => shares.iter().sum(),
            ExpertGate::Sigmoid => 1.0,
        };
        for &expert in chosen {
            scores[expert] = (shares[expert] / sum * experts.scale) as f32;
            if let Some(factor) = self.factors.get(expert) {
                scores[expert] *= factor;
            }
        }
        for &expert in others {
            scores[expert] = 0.0;
        }
    }
    // ANCHOR_END: route

    /// The experts, in the order in which a token takes them.
    fn order(&self, scores: &[f32], shares: &[f64]) -> Vec<usize> {
        // The greatest score has the greatest share, and shares may be equal where scores are not.
        let mut keys: Vec<f64> = match self.correction {
            [] => scores.iter().copied().map(f64::from).collect(),
            correction => {
                let corrected = shares.iter().zip(correction);
                corrected.map(|(share, correction)| share + f64::from(*correction)).collect()
            }
        };
        if let Some(groups) = self.experts.groups {
            let size = keys.len() / groups.count;
            let of_group = |keys: &[f64]| -> f64 {
                let best = best_first(keys).into_iter().take(groups.best);
                best.map(|expert| keys[expert]).sum()
            };
            let worth: Vec<f64> = keys.chunks_exact(size).map(of_group).collect();
            for &group in &best_first(&worth)[groups.per_token..] {
                keys[group * size..][..size].fill(f64::NEG_INFINITY);
            }
        }
        best_first(&keys)
    }
}

/// The places of numbers, the greatest first; of equal ones, the first.
fn best_first(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[b].total_cmp(&numbers[a])); // stable
    order
}

/// The rows that take an expert, and its weight in each. `routing` is `[seq, experts]`.
fn rows_of(routing: &[f32], experts: usize, expert: usize) -> Vec<(usize, f32)> {
    let weights = routing.iter().skip(expert).step_by(experts).copied().enumerate();
    weights.filter(|(_, weight)| *weight != 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{ExpertGroups, ExpertNames};

    fn routed(change: impl FnOnce(&mut config::Experts), scores: &[f32]) -> Vec<f32> {
        routed_with(&[], change, scores)
    }

    fn routed_with(
        correction: &[f32],
        change: impl FnOnce(&mut config::Experts),
        scores: &[f32],
    ) -> Vec<f32> {
        let mut experts = config::Experts::plain(scores.len(), 2, 1, ExpertNames::Mlp);
        change(&mut experts);
        let mut weights = scores.to_vec();
        Routing { experts: &experts, correction, factors: &[] }.route(&mut weights);
        weights
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() < 1e-6, "{found:?}, {expected:?}");
        }
    }

    #[test]
    fn weights_are_those_of_the_greatest_scores() {
        let scores = [1.0_f32, 3.0, 2.0, 3.0];
        let exp = scores.map(f32::exp);
        let sum: f32 = exp.iter().sum();
        let shares = routed(|experts| experts.renormalized = false, &scores);
        assert_close(&shares, &[0.0, exp[1] / sum, 0.0, exp[3] / sum]);
        let weights = routed(|experts| experts.per_token = 3, &scores);
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6 && weights[0] == 0.0);
        // The first of two equal scores.
        let one = routed(|experts| experts.per_token = 1, &scores);
        assert_eq!(one, [0.0, 1.0, 0.0, 0.0]);
    }

    /// A correction changes the choice, and no weight.
    #[test]
    fn sigmoids_are_corrected_and_scaled() {
        let scores = [0.0_f32, 2.0, -1.0, 1.0];
        let sigmoid = scores.map(|score| 1.0 / (1.0 + (-score).exp()));
        let sigmoids = |experts: &mut config::Experts| {
            experts.gate = ExpertGate::Sigmoid;
            experts.renormalized = false;
        };
        assert_close(&routed(sigmoids, &scores), &[0.0, sigmoid[1], 0.0, sigmoid[3]]);
        let found = routed_with(
            &[0.5, 0.0, 1.0, 0.0],
            |experts| {
                sigmoids(experts);
                experts.renormalized = true;
                experts.scale = 2.5;
            },
            &scores,
        );
        let sum = sigmoid[0] + sigmoid[2];
        assert_close(&found, &[2.5 * sigmoid[0] / sum, 0.0, 2.5 * sigmoid[2] / sum, 0.0]);
    }

    /// Two groups of three: the best expert is in the group that is worse together.
    #[test]
    fn experts_are_taken_of_the_best_groups() {
        let scores = [5.0, 0.0, 0.0, 4.0, 3.0, 0.0];
        let taken = |best| {
            let weights = routed(
                |experts| {
                    experts.groups = Some(ExpertGroups { count: 2, per_token: 1, best });
                },
                &scores,
            );
            weights.iter().map(|weight| *weight > 0.0).collect::<Vec<_>>()
        };
        assert_eq!(taken(1), [true, true, false, false, false, false]);
        assert_eq!(taken(2), [false, false, false, true, true, false]);
    }

    #[test]
    fn rows_are_grouped_by_expert() {
        let routing = [0.5, 0.5, 0.0, 0.0, 0.25, 0.75];
        assert_eq!(rows_of(&routing, 3, 0), [(0, 0.5)]);
        assert_eq!(rows_of(&routing, 3, 1), [(0, 0.5), (1, 0.25)]);
        assert_eq!(rows_of(&routing, 3, 2), [(1, 0.75)]);
    }
}
