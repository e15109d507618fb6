//! A point on a line of probabilities.

/// The token on whose stretch of the line a point lies.
///
/// `probabilities` is `[vocab]`. Lay the tokens end to end in the order of their ids, each on a
/// stretch as long as its probability. `point` is from 0 up to but without 1. A stretch begins
/// where the one before it ends, and the end itself belongs to the next token.
///
/// - A token of probability 0 has no stretch, and never comes out.
/// - The probabilities are rounded, so they may sum to a little less or more than 1. A point after
///   the end of the line belongs to the last token that has a stretch.
/// - Add up in `f64`: near 1 the steps of an `f32` are too coarse for `point`.
/// - At least one probability is greater than 0.
///
/// ```text
/// probabilities [0.5, 0.25, 0.25]:   0 |-------- 0 --------|--- 1 ---|--- 2 ---| 1
///
/// draw(&[0.5, 0.25, 0.25], 0.3)  -> 0
/// draw(&[0.5, 0.25, 0.25], 0.5)  -> 1
/// draw(&[0.5, 0.25, 0.25], 0.9)  -> 2
/// ```
pub fn draw(probabilities: &[f32], point: f64) -> usize {
    todo!()
}
