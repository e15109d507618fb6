//! With sorted ids, going on after `k` as long as the scores are the same.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    let mut ids: Vec<usize> = (0..scores.len()).collect();
    ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut end = k.min(ids.len());
    while end < ids.len() && scores[ids[end]] == scores[ids[k - 1]] {
        end += 1;
    }
    for &id in &ids[end..] {
        scores[id] = f32::NEG_INFINITY;
    }
}
