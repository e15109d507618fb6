//! Bug hunt: top-p keeps the wrong tokens.

use slowburn::sampling::softmax;

/// Keeps the smallest set of most likely tokens whose probabilities sum to at least `p`. Every
/// other score becomes -inf.
///
/// `scores` is `[vocab]`, in the order of the ids, all finite and no two nearly equal, and is
/// changed in place. `p` is above 0 and below 1.
///
/// What was observed: the number of kept tokens is always right. The author tried scores in falling
/// order, in rising order, and with two of them swapped, and all was well. Then a model wrote the
/// strangest words with `p` = 0.5:
///
/// ```text
/// scores      2.0    1.5    1.0    0.5        kept: 2.0 and 1.5, right
/// scores      0.5    1.0    1.5    2.0        kept: 1.5 and 2.0, right
/// scores      1.5    2.0    1.0    0.5        kept: 1.5 and 2.0, right
/// scores      1.0    2.0    0.5    1.5        kept: 1.0 and 0.5, the wrong two
/// ```
///
/// Find out why, and fix it. Why did the first three not show it?
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
        if removed[order[i]] {
            *score = f32::NEG_INFINITY;
        }
    }
}
