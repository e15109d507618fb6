//! A token with the same score as one that always stays is taken for it.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let safe: Vec<f32> = always.iter().map(|&id| scores[id as usize]).collect();
    let mut rest: Vec<f32> = scores.iter().copied().filter(|s| !safe.contains(s)).collect();
    if k >= rest.len() {
        return;
    }
    rest.sort_by(|a, b| b.total_cmp(a));
    let edge = rest[k - 1];
    for score in scores {
        if *score < edge && !safe.contains(score) {
            *score = f32::NEG_INFINITY;
        }
    }
}
