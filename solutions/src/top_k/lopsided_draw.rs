//! Bug hunt: one token comes far too often.
//!
//! Why: after the cut the probabilities sum to 0.731, and nobody divided by that. So the line is
//! too short, and all points behind its end, more than a quarter, fall back to the last token on
//! it. That fallback is meant for gaps as small as a rounding error, and here it hid a large one.
//! Cut the scores before the softmax instead: it divides by the sum of what is left.
//!
//! What it costs: nothing, because there is one softmax either way.
//!
//! A common wrong turn: letting the fallback choose another token, such as the best. Then that one
//! comes too often. The lump has moved, and the line is still too short.

use slowburn::sampling::softmax;

/// Draws a token from the `k` best, each as often as its probability among them demands.
///
/// `logits` is `[vocab]` and finite, and no two are so close that they give the same probability.
/// `k` is from 1 to the vocabulary, and `point` from 0 up to but without 1.
pub fn lopsided_draw(logits: &[f32], k: usize, point: f64) -> usize {
    let mut scores = logits.to_vec();
    keep_best(&mut scores, k);
    walk(&softmax(&scores), point)
}

/// Sets all but the `k` greatest scores to -inf.
fn keep_best(scores: &mut [f32], k: usize) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let least = sorted[k - 1];
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// The token on whose stretch of the line the point lies, or the last that has a stretch.
fn walk(probabilities: &[f32], point: f64) -> usize {
    let mut drawn = 0;
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability == 0.0 {
            continue;
        }
        drawn = id;
        end += f64::from(probability);
        if point < end {
            break;
        }
    }
    drawn
}
