//! A sink, and attention in parts.

/// What attention has computed over some of the keys.
#[derive(Debug, Clone)]
pub struct Span {
    /// The greatest score: -inf, if there are no keys.
    pub greatest: f32,
    /// The sum of `exp(score - greatest)`.
    pub sum: f32,
    /// The sum of the values, each times its `exp(score - greatest)`: `[value_dim]`.
    pub mixed: Vec<f32>,
}

/// A kernel computes attention over several spans of keys at once, each with its own greatest score.
/// Merge the spans into what the head takes up, `[value_dim]`: the sum of all values, each times
/// `exp(score)`, divided by the sum of all `exp(score)`.
///
/// - If the head has a sink, its `exp(sink)` is one more term of the sum that you divide by. It has no
///   value. It counts once, however many spans there are.
/// - Scores and the sink may be as large as 1000, where `exp` is infinite, or as small as -1000, where
///   it is 0: put all spans and the sink on one scale first.
/// - A span may have no keys. If none has any, a head with a sink takes up zeros. Without a sink, at least
///   one span has keys.
///
/// ```text
/// spans (greatest 2, sum 1, mixed [10]) and (greatest 0, sum 2, mixed [30]), no sink
///
/// on the scale of 2: 1 and exp(-2) * 2, values 10 and exp(-2) * 30
/// (10 + 4.06) / (1 + 0.27) = 11.07
/// with a sink of 2: (10 + 4.06) / (1 + 0.27 + 1) = 6.19
/// ```
pub fn sink_spans(spans: &[Span], sink: Option<f32>) -> Vec<f32> {
    todo!()
}
