//! Tokens of a tiny probability go, also where they are needed to reach p.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    for id in ids {
        if probabilities[id] < 1e-6 && p < 1.0 {
            continue;
        }
        if mass >= p && p < 1.0 {
            break;
        }
        left[id] = probabilities[id];
        mass += probabilities[id];
    }
    left.iter().map(|probability| probability / mass).collect()
}
