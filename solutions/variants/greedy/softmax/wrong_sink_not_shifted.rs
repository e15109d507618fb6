//! The scores are shifted, and the sink is not.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(sink, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + sink.exp();
    exps.iter().map(|exp| exp / sum).collect()
}
