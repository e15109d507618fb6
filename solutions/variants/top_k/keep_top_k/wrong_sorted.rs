//! The scores are sorted in place, and lose their tokens.

pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    scores.sort_by(|a, b| b.total_cmp(a));
    let competes = |id: usize| !always.contains(&(id as u32));
    let mut rest: Vec<f32> =
        (0..scores.len()).filter(|&id| competes(id)).map(|id| scores[id]).collect();
    if k >= rest.len() {
        return;
    }
    let (_, &mut kth_best, _) = rest.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    for (id, score) in scores.iter_mut().enumerate() {
        if *score < kth_best && competes(id) {
            *score = f32::NEG_INFINITY;
        }
    }
}
