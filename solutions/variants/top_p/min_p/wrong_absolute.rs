//! Compares with the share alone: where no token is likely, nothing stays.

use slowburn::sampling::softmax;

pub fn min_p(scores: &mut [f32], share: f32) {
    let probabilities = softmax(scores);
    for (score, probability) in scores.iter_mut().zip(probabilities) {
        if probability < share {
            *score = f32::NEG_INFINITY;
        }
    }
}
