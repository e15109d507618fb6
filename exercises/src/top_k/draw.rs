//! Many points on one line of probabilities.

/// For each point, the token on whose stretch of the line it lies.
///
/// `probabilities` is `[vocab]`. Lay the tokens end to end in the order of their ids, each on a
/// stretch as long as its probability. A stretch begins where the one before it ends, and the end
/// itself belongs to the next token. Each of `points` is from 0 up to but without 1, and they come
/// in any order. Returns as many tokens, in the order of the points.
///
/// - There may be 100,000 tokens and as many points. The answer for them takes less than a second
///   (in a debug build too): do not walk along the whole line for each point.
/// - A token of probability 0 has no stretch, and never comes out. One of probability 1e-12 has one.
/// - The probabilities are rounded, so they may sum to a little less or more than 1. A point after
///   the end of the line belongs to the last token that has a stretch. (To multiply each point by
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
