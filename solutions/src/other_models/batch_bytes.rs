//! A batch soon reads nearly all experts.
//!
//! Why: one token pays for a few experts, but the other tokens of the batch take other ones. The
//! expected number is the sum over all experts of the probability that some token takes it.
//!
//! What it costs: nothing. It tells you beforehand what a batch gains: the bytes of a step divided
//! by the batch.
//!
//! A common wrong turn: batch times per_token, at most all. A batch reads that many if no two
//! tokens agree, and they do.

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

/// How many bytes of weights a step of `batch` sequences reads, as expected, if each token takes any
/// `per_token` experts of a layer, all equally likely, and whatever the other tokens take.
pub fn batch_bytes(sizes: Sizes, batch: usize) -> f64 {
    let Sizes { shared, layers, experts, per_token, expert } = sizes;
    let passes_by = 1.0 - per_token as f64 / experts as f64;
    let taken = experts as f64 * (1.0 - passes_by.powf(batch as f64));
    shared + layers as f64 * taken * expert
}
