//! From the least likely on: removes a token as long as the others still reach `p`.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut left = probabilities.to_vec();
    if p < 1.0 {
        let mut ids: Vec<usize> = (0..left.len()).collect();
        ids.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
        let mut mass: f64 = probabilities.iter().copied().map(f64::from).sum();
        for id in ids {
            mass -= f64::from(probabilities[id]);
            if mass < f64::from(p) {
                break;
            }
            left[id] = 0.0;
        }
    }
    let sum: f32 = left.iter().sum();
    left.iter().map(|probability| probability / sum).collect()
}
