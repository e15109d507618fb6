//! Maps back rightly, and keeps one token too few.

use slowburn::sampling::softmax;

pub fn shuffled_nucleus(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));

    let mut removed = Vec::new();
    let mut mass = 0.0;
    for &id in &order {
        mass += probabilities[id];
        removed.push(mass >= p);
    }

    for (rank, &id) in order.iter().enumerate() {
        if removed[rank] {
            scores[id] = f32::NEG_INFINITY;
        }
    }
}
