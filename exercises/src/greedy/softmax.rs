//! A softmax that does not overflow, with a sink.

/// Scores can be any numbers, and attention needs probabilities. Here one more outcome is possible,
/// that none of the tokens comes: `exp(s_i) / (exp(sink) + sum_j exp(s_j))`.
///
/// `scores` is `[vocab]`; you return `[vocab]`, numbers from 0 to 1. The sink is one more score. It
/// takes its share of the sum and has no place in the result, which therefore sums to less than 1.
/// The attention of some models has a sink: a head that finds nothing to look at can look at
/// nothing. With a sink of -inf, this is the chapter's softmax.
///
/// - The catch: scores and the sink may be large. `exp(1000)` is infinite in an `f32`, and the
///   result must not be NaN. But adding the same number to all of them changes no probability: use
///   that.
/// - A score of -inf means that a rule removed the token. Its probability is exactly 0, however low
///   the other scores are.
/// - At least one score or the sink is finite. None is NaN, and none is infinity.
/// - A probability may be off by 0.0001. If a number is below -1000 or above 1000, this holds only
///   where the greatest is ahead of the others by more than 100.
///
/// ```text
/// const NONE: f32 = f32::NEG_INFINITY;
///
/// softmax(&[0.0, 0.0], NONE)         -> [0.5, 0.5]
/// softmax(&[0.0, 0.0], 0.0)          -> [0.3333, 0.3333]
/// softmax(&[1000.0, 1000.0], NONE)   -> [0.5, 0.5]
/// softmax(&[2.0, NONE], NONE)        -> [1.0, 0.0]
/// softmax(&[2.0, NONE], 1000.0)      -> [0.0, 0.0]
/// ```
pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    todo!()
}
