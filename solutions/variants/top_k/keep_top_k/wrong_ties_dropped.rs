//! Sorts the ids and cuts after `k`: of equal tokens, some go.

pub fn keep_top_k(scores: &mut [f32], k: usize) {
    let mut ids: Vec<usize> = (0..scores.len()).collect();
    ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    for &id in ids.iter().skip(k) {
        scores[id] = f32::NEG_INFINITY;
    }
}
