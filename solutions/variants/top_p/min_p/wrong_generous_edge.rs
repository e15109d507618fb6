//! What is a thousandth below the edge stays.

pub fn min_p(scores: &mut [f32], share: f32) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = greatest + share.ln();
    for score in scores {
        if *score < least - 1e-3 {
            *score = f32::NEG_INFINITY;
        }
    }
}
