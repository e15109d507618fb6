//! How many of the rest are better decides for each token.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let before = scores.to_vec();
    let competes = |id: &usize| !always.contains(&(*id as u32));
    for id in (0..before.len()).filter(competes) {
        let better = |&other: &usize| before[other] > before[id];
        if (0..before.len()).filter(competes).filter(better).count() >= k {
            scores[id] = f32::NEG_INFINITY;
        }
    }
}
