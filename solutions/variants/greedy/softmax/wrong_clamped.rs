//! Large scores are limited to what `exp` can take, which makes them equal.

pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let exps: Vec<f32> = scores.iter().map(|score| score.clamp(-80.0, 80.0).exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
