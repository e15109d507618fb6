//! A cut over all tokens, and what always stays is put back: it has taken places.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let before = scores.to_vec();
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let edge = sorted[k.min(sorted.len()) - 1];
    for score in scores.iter_mut() {
        if *score < edge {
            *score = f32::NEG_INFINITY;
        }
    }
    for &id in always {
        scores[id as usize] = before[id as usize];
    }
}
