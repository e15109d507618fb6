//! Maps twice: that is the way back for three in a ring, and not for four.

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

    for (i, score) in scores.iter_mut().enumerate() {
        if removed[order[order[i]]] {
            *score = f32::NEG_INFINITY;
        }
    }
}
