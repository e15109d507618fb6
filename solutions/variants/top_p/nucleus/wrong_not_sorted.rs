//! Walks in the order of the ids: they are not sorted by probability.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let ids: Vec<usize> = (0..probabilities.len()).collect();
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    for id in ids {
        if mass >= p && p < 1.0 {
            break;
        }
        left[id] = probabilities[id];
        mass += probabilities[id];
    }
    left.iter().map(|probability| probability / mass).collect()
}
