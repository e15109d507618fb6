//! The first score is subtracted instead of the greatest.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = if scores[0].is_finite() {
        scores[0]
    } else {
        scores.iter().copied().fold(sink, f32::max)
    };
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
