//! One pass over the scores: the sum is scaled anew where a greater one comes.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let (mut greatest, mut sum) = (f32::NEG_INFINITY, 0.0);
    for &score in scores.iter().chain([&sink]) {
        if score > greatest {
            sum = sum * (greatest - score).exp() + 1.0;
            greatest = score;
        } else if score > f32::NEG_INFINITY {
            sum += (score - greatest).exp();
        }
    }
    scores.iter().map(|score| (score - greatest).exp() / sum).collect()
}
