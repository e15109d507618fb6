//! Removed tokens leave the list, so that probabilities no longer belong to their ids.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let left: Vec<f32> = scores.iter().copied().filter(|score| score.is_finite()).collect();
    let greatest = left.iter().copied().fold(sink, f32::max);
    let exps: Vec<f32> = left.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
