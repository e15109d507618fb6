//! No more than 40 tokens stay.

use slowburn::sampling::softmax;

pub fn shuffled_nucleus(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));

    let mut mass = 0.0;
    for (rank, id) in order.into_iter().enumerate() {
        if mass >= p || rank >= 40 {
            scores[id] = f32::NEG_INFINITY;
        }
        mass += probabilities[id];
    }
}
