//! No more than 50 tokens stay, however flat the distribution is.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    for id in ids.into_iter().take(50) {
        if mass >= p && p < 1.0 {
            break;
        }
        left[id] = probabilities[id];
        mass += probabilities[id];
    }
    left.iter().map(|probability| probability / mass).collect()
}
