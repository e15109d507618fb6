//! Sorts the scores themselves: they no longer stand at their ids.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    scores.sort_by(|a, b| b.total_cmp(a));
    let edge = scores[k.min(scores.len()) - 1];
    for score in scores {
        if *score < edge {
            *score = f32::NEG_INFINITY;
        }
    }
}
