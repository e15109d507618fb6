//! The formula as it stands: `exp` overflows, and infinity divided by infinity is NaN.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let exps: Vec<f32> = scores.iter().map(|score| score.exp()).collect();
    let sum = exps.iter().sum::<f32>() + sink.exp();
    exps.iter().map(|exp| exp / sum).collect()
}
