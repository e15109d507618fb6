//! Greedy decoding: always the most likely token.

// ANCHOR: greedy
/// Removes every token but the most likely one. Ties keep the lowest id.
pub(super) fn keep_best(scores: &mut [f32]) {
    let best = argmax(scores);
    for (id, score) in scores.iter_mut().enumerate() {
        if id != best {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// The index of the greatest score; the lowest index for ties.
fn argmax(scores: &[f32]) -> usize {
    let mut best = 0;
    for (id, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = id;
        }
    }
    best
}
// ANCHOR_END: greedy
