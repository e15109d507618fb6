//! Merging two spans of an online softmax.

/// What one thread knows of one query after its span of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The greatest score; minus infinity if nothing of the span is seen.
    pub greatest: f32,
    /// The sum of `exp(score - greatest)`, 0 if nothing is seen.
    pub sum: f32,
    /// The sum of the values, each times its `exp(score - greatest)`: `[head_dim]`, zeros if
    /// nothing is seen.
    pub weighted: Vec<f32>,
}

/// Two threads have each read a part of the positions. Now merge their spans into one, as if a
/// single thread had read all positions.
///
/// - Its greatest score is the greater of both. What was summed relative to the other one is scaled
///   down to it: `exp(old - new)` is at most 1, whichever span it is.
/// - The catch: nothing may be seen of one of them, or of both. Minus infinity less minus infinity
///   is NaN.
/// - Scores may be large, on either side of 0. Both spans have the same `head_dim`.
///
/// ```text
/// one    scores 0 0     values 1 3    greatest 0       sum 2    weighted 4
/// other  score  ln 2    value  8      greatest ln 2    sum 1    weighted 8
///
/// both                                greatest ln 2    sum 2 / 2 + 1 = 2    weighted 4 / 2 + 8 = 10
/// ```
pub fn merge(one: &Span, other: &Span) -> Span {
    todo!()
}

/// The mean of the values, weighted by the softmax of the scores: `[head_dim]`. Merge the spans
/// from the first to the last. `None` if nothing is seen, or there is no span.
pub fn mean(spans: &[Span]) -> Option<Vec<f32>> {
    todo!()
}
