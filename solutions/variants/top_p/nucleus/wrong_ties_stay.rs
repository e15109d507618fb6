//! Keeps the ties of the last token too, as in top-k: the set is not the smallest.

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut mass = 0.0;
    let mut least = 0.0;
    for &probability in &sorted {
        if mass < p || p == 1.0 {
            least = probability;
        }
        mass += probability;
    }
    let stays = |&probability: &f32| {
        if probability >= least {
            probability
        } else {
            0.0
        }
    };
    let left: Vec<f32> = probabilities.iter().map(stays).collect();
    let sum: f32 = left.iter().sum();
    left.iter().map(|probability| probability / sum).collect()
}
