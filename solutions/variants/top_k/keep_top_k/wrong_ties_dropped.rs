//! Exactly k of the rest stay: of equals, some go.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let mut ids: Vec<usize> =
        (0..scores.len()).filter(|&id| !always.contains(&(id as u32))).collect();
    ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    for &id in ids.iter().skip(k) {
        scores[id] = f32::NEG_INFINITY;
    }
}
