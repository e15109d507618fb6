//! Numbers are limited to what `exp` can take, which makes large ones equal.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let exps: Vec<f32> = scores.iter().map(|score| score.clamp(-80.0, 80.0).exp()).collect();
    let sum = exps.iter().sum::<f32>() + sink.clamp(-80.0, 80.0).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
