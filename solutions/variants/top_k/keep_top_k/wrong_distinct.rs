//! Counts distinct scores and not tokens: equal scores above the edge count once.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.dedup();
    let edge = sorted[k.min(sorted.len()) - 1];
    for score in scores {
        if *score < edge {
            *score = f32::NEG_INFINITY;
        }
    }
}
