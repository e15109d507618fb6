//! Returns the tokens in the order of their probabilities: places are no longer ids.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    let sorted: Vec<f32> = ids.iter().map(|&id| probabilities[id]).collect();
    for (id, &probability) in sorted.iter().enumerate() {
        if mass >= p && p < 1.0 {
            break;
        }
        left[id] = probability;
        mass += probability;
    }
    left.iter().map(|probability| probability / mass).collect()
}
