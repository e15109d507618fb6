//! The search for the greatest starts at 0: where all are far below, every `exp` is 0.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(sink.max(0.0), f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
