//! The sink is shifted, but is not looked at in the search for the greatest.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
