//! By counting, for each token, how many are better.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    let before = scores.to_vec();
    for score in scores {
        let better = before.iter().filter(|&&other| other > *score).count();
        if better >= k {
            *score = f32::NEG_INFINITY;
        }
    }
}
