//! k is raised by the number of tokens that always stay, wherever these stand.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let edge = sorted[(k + always.len()).min(sorted.len()) - 1];
    for (id, score) in scores.iter_mut().enumerate() {
        if *score < edge && !always.contains(&(id as u32)) {
            *score = f32::NEG_INFINITY;
        }
    }
}
