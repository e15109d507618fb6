//! Makes the inverse of the order: the rank of each id.

use slowburn::sampling::softmax;

pub fn shuffled_nucleus(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));

    let mut removed = Vec::new();
    let mut mass = 0.0;
    for &id in &order {
        removed.push(mass >= p);
        mass += probabilities[id];
    }

    let mut rank_of = vec![0; order.len()];
    for (rank, &id) in order.iter().enumerate() {
        rank_of[id] = rank;
    }
    for (i, score) in scores.iter_mut().enumerate() {
        if removed[rank_of[i]] {
            *score = f32::NEG_INFINITY;
        }
    }
}
