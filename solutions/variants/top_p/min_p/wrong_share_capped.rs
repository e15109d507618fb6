//! A share above 0.9 is taken for 0.9.

pub fn min_p(scores: &mut [f32], share: f32) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = greatest + share.min(0.9).ln();
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}
