//! 1/p of a tiny p is infinite, and so the entropy is.

pub fn typical(probabilities: &[f32], mass: f32) -> Vec<f32> {
    let surprise = |id: usize| probabilities[id].recip().log2();
    let mut ids: Vec<usize> =
        (0..probabilities.len()).filter(|&id| probabilities[id] > 0.0).collect();
    let entropy: f32 = ids.iter().map(|&id| probabilities[id] * surprise(id)).sum();
    let distance = |id: usize| (surprise(id) - entropy).abs();
    ids.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));

    let mut left = vec![0.0; probabilities.len()];
    let mut sum = 0.0;
    for id in ids {
        if sum >= mass {
            break;
        }
        left[id] = probabilities[id];
        sum += probabilities[id];
    }
    left.iter().map(|probability| probability / sum).collect()
}
