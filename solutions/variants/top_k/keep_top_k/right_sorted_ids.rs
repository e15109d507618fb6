//! The ids sorted by score, cut behind the last that is equal to the k-th.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let mut ids: Vec<usize> = (0..scores.len()).collect();
    ids.retain(|&id| !always.contains(&(id as u32)));
    ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut end = k.min(ids.len());
    while end < ids.len() && scores[ids[end]] == scores[ids[k - 1]] {
        end += 1;
    }
    for &id in &ids[end..] {
        scores[id] = f32::NEG_INFINITY;
    }
}
