//! A p of 0.99 or above is taken for 1.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    for id in ids {
        if mass >= p && p < 0.99 {
            break;
        }
        left[id] = probabilities[id];
        mass += probabilities[id];
    }
    left.iter().map(|probability| probability / mass).collect()
}
