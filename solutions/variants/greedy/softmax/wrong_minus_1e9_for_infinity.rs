//! -1e9 stands for -inf, and other scores may be lower than that.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let scores: Vec<f32> = scores.iter().map(|s| s.max(-1e9)).collect();
    let greatest = scores.iter().copied().fold(sink, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
