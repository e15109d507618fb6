//! Takes out the best of the rest again and again.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let count = probabilities.len();
    let mut left = vec![0.0; count];
    let mut taken = vec![false; count];
    let mut mass = 0.0;
    while taken.contains(&false) && (mass < p || p == 1.0) {
        let rest = (0..count).filter(|&id| !taken[id]);
        let best = rest.max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap();
        taken[best] = true;
        left[best] = probabilities[best];
        mass += probabilities[best];
    }
    left.iter().map(|probability| probability / mass).collect()
}
