//! Many points on one line of probabilities.

/// A sampler draws a token by throwing a point on a line. Here many points come at once: for each,
/// return the token on whose stretch it lies.
///
/// `probabilities` is `[vocab]`. Lay the tokens end to end in the order of their ids, each on a
/// stretch as long as its probability. A stretch begins where the one before it ends, and the end
/// belongs to the next token. Each of `points` is at least 0 and below 1, and they come in any
/// order. Return as many tokens, in the order of the points.
///
/// - There may be 100,000 tokens and as many points, and all of them together have to take less
///   than a second (in a debug build too). So don't walk along the whole line for each point.
/// - A token of probability 0 has no stretch, and is never drawn. One of probability 1e-12 has one.
/// - The probabilities are rounded, so they may sum to a little less or more than 1. A point after
///   the end of the line belongs to the last token that has a stretch. (Multiplying each point by
///   the sum, as the chapter's code does, is right too.)
/// - Add up in `f64`, and leave the points as they are: the steps of an `f32` are too coarse.
/// - At least one probability is greater than 0.
///
/// ```text
/// probabilities [0.5, 0.25, 0.25]:   0 |-------- 0 --------|--- 1 ---|--- 2 ---| 1
///
/// draw(&[0.5, 0.25, 0.25], &[0.9, 0.3, 0.5])  -> [2, 0, 1]
/// ```
pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    todo!()
}
