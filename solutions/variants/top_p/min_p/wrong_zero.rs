//! Sets what is removed to 0, which is a score like any other.

pub fn min_p(scores: &mut [f32], share: f32) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = greatest + share.ln();
    for score in scores {
        if *score < least {
            *score = 0.0;
        }
    }
}
