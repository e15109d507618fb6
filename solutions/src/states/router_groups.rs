//! A router with groups.
//!
//! Why: the correction is what balances the experts: training raises it for those that are taken too seldom. It has to
//! change the choice, and may not change what an expert that is taken contributes. So there are two numbers for each
//! expert, a worth and a weight.
//!
//! What it costs: two sorts of short lists. The matrix product before them costs far more.
//!
//! A common wrong turn: hiding the experts of other groups behind a worth of 0. A worth may be below 0, and then a
//! hidden expert wins.

/// A router that chooses groups of experts before experts.
#[derive(Debug, Clone)]
pub struct Router {
    /// How many experts a group has. Groups follow each other: the first has the first experts.
    pub group_size: usize,
    /// How many groups a token takes.
    pub groups_per_token: usize,
    /// How many experts a token takes, of all these groups together.
    pub experts_per_token: usize,
    /// For each expert a number that is added to its weight for the choice: `[experts]`.
    pub correction: Vec<f32>,
    /// What the weights are multiplied by in the end.
    pub scale: f32,
}

/// The experts that a token takes with their weights, in the order of their numbers.
pub fn router_groups(router: &Router, scores: &[f32]) -> Vec<(usize, f32)> {
    let weights: Vec<f32> = scores.iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect();
    let mut worths: Vec<f32> = weights
        .iter()
        .zip(&router.correction)
        .map(|(weight, correction)| weight + correction)
        .collect();
    let of_group =
        |group: &[f32]| -> f32 { best_first(group).iter().take(2).map(|&i| group[i]).sum() };
    let groups: Vec<f32> = worths.chunks(router.group_size).map(of_group).collect();
    for &group in best_first(&groups).iter().skip(router.groups_per_token) {
        worths[group * router.group_size..][..router.group_size].fill(f32::NEG_INFINITY);
    }
    let mut taken = best_first(&worths);
    taken.truncate(router.experts_per_token);
    taken.sort_unstable();
    let sum: f32 = taken.iter().map(|&expert| weights[expert]).sum();
    taken.iter().map(|&expert| (expert, weights[expert] / sum * router.scale)).collect()
}

/// The places of numbers, the greatest first; of equal ones, the first.
fn best_first(numbers: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[b].total_cmp(&numbers[a])); // stable
    order
}
