//! Merging two spans of an online softmax.
//!
//! Why: a softmax needs only differences, so you can sum a span relative to its greatest score, and
//! move it to another one by a single factor. So threads need to know nothing about each other
//! until the end: this is how a long context is shared out (FlashAttention-2, Flash-Decoding).
//!
//! What it costs: two `exp` and `2 * head_dim` products for each merge. The order in which spans
//! are merged changes the last bits: a library that promises bit-identical results merges from the
//! first to the last, whichever thread is ready first.
//!
//! A common wrong turn: averaging the two means. A span with a greater score, or with more
//! positions, has more weight, and `sum` and `greatest` tell how much.

/// What one thread knows of one query after its span of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The greatest score; minus infinity if nothing of the span is seen.
    pub greatest: f32,
    /// The sum of `exp(score - greatest)`, 0 if nothing is seen.
    pub sum: f32,
    /// The sum of the values, each times its `exp(score - greatest)`: `[head_dim]`.
    pub weighted: Vec<f32>,
}

/// The span that holds the positions of both.
pub fn merge(one: &Span, other: &Span) -> Span {
    let greatest = one.greatest.max(other.greatest);
    if greatest == f32::NEG_INFINITY {
        return one.clone(); // nothing is seen of either
    }
    let (first, second) = ((one.greatest - greatest).exp(), (other.greatest - greatest).exp());
    let pairs = one.weighted.iter().zip(&other.weighted);
    Span {
        greatest,
        sum: first * one.sum + second * other.sum,
        weighted: pairs.map(|(a, b)| first * a + second * b).collect(),
    }
}

/// The mean of the values, weighted by the softmax of the scores. `None` if nothing is seen.
pub fn mean(spans: &[Span]) -> Option<Vec<f32>> {
    let (first, others) = spans.split_first()?;
    let all = others.iter().fold(first.clone(), |all, span| merge(&all, span));
    (all.sum > 0.0).then(|| all.weighted.iter().map(|number| number / all.sum).collect())
}
