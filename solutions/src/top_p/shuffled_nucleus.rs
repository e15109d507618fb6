//! Bug hunt: top-p keeps the wrong tokens.
//!
//! Why: `order` answers the question "which id has this rank?", and the last loop read it as "which
//! rank has this id?". The two answers are the same if the order is its own inverse: sorted,
//! reversed, or with pairs exchanged. Three tokens in a ring are enough to tell them apart. The
//! loop over ranks knows the id, so it can remove the token at once, and nothing has to be mapped
//! back.
//!
//! What it costs: less than before, because one list and one loop are gone.
//!
//! A common wrong turn: testing a sort with sorted input. A shuffled list, or many random ones, is
//! no more work, and finds it in the first run.

use slowburn::sampling::softmax;

/// Keeps the smallest set of most likely tokens whose probabilities sum to at least `p`: every
/// other score becomes -inf. `scores` is `[vocab]`, all finite and different, and `p` is above 0
/// and below 1.
pub fn shuffled_nucleus(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));

    let mut mass = 0.0;
    for id in order {
        if mass >= p {
            scores[id] = f32::NEG_INFINITY;
        }
        mass += probabilities[id];
    }
}
