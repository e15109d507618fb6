//! With the probabilities, as the definition says.

use slowburn::sampling::softmax;

pub fn min_p(scores: &mut [f32], share: f32) {
    let probabilities = softmax(scores);
    let greatest = probabilities.iter().copied().fold(0.0, f32::max);
    for (score, probability) in scores.iter_mut().zip(probabilities) {
        if probability < share * greatest {
            *score = f32::NEG_INFINITY;
        }
    }
}
