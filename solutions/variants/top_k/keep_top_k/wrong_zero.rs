//! Sets what is removed to 0, which is a score like any other.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let edge = sorted[k.min(sorted.len()) - 1];
    for score in scores {
        if *score < edge {
            *score = 0.0;
        }
    }
}
