//! A router with groups.

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

/// Experts lie on several GPUs, and a token that takes experts of all of them is sent to all. So a token
/// first takes a few groups. Return its experts with their weights, in the order of their numbers.
///
/// 1. The weight of an expert is the sigmoid of its score, `1 / (1 + exp(-score))`. Its worth is its
///    weight plus its correction.
/// 2. A group is worth as much as its two best experts together, or its only one.
/// 3. The token takes the best groups, and of their experts the best. Of equal ones the first is better.
///    Worths may be below 0. There are at least as many experts in these groups as the token takes.
/// 4. The weights of the experts that it takes are divided by their sum, then multiplied by `scale`. The
///    corrections have no part in that.
///
/// ```text
/// weights, with corrections of 0     0.9  0.1  |  0.6  0.5     two groups of two
/// a token takes one group            1.0       |  1.1          the second
/// and one expert                                  0.6          expert 2
/// ```
pub fn router_groups(router: &Router, scores: &[f32]) -> Vec<(usize, f32)> {
    todo!()
}
