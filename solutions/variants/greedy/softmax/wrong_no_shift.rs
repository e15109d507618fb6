//! The formula as it stands: `exp` overflows, and infinity divided by infinity is NaN.

pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let exps: Vec<f32> = scores.iter().map(|score| score.exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
