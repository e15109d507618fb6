//! What a batch reads of a model with experts.

/// The sizes of a model, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// What every step reads: attention, norms, routers, the head.
    pub shared: f64,
    /// How many layers with experts there are.
    pub layers: usize,
    /// How many experts each of them has.
    pub experts: usize,
    /// How many of these a token takes.
    pub per_token: usize,
    /// The weights of one expert.
    pub expert: f64,
}

/// A token reads only a few experts, but a batch reads every expert that any of its tokens takes.
/// How many bytes of weights does a step of `batch` sequences read? Return the expected number, if
/// each token takes any `per_token` experts of a layer, all equally likely, and whatever the other
/// tokens take.
///
/// - One token misses a given expert with the probability 1 - per_token / experts. So a whole batch
///   misses it with that probability to the power of `batch`, and takes it otherwise.
/// - An expert that is taken is read once, by however many tokens.
///
/// ```text
/// 8 experts of 10 bytes in 1 layer, 2 per token, 100 bytes shared
///
/// batch 1    2 experts       120
/// batch 2    3.5 experts     135       8 * (1 - 0.75^2)
/// batch 8    7.2 experts     172
/// ```
pub fn batch_bytes(sizes: Sizes, batch: usize) -> f64 {
    todo!()
}
