//! Divides by the sum of all tokens, which is 1.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let sum: f32 = probabilities.iter().sum();
    probabilities
        .iter()
        .zip(kept)
        .map(|(&p, &kept)| if kept { p / sum } else { 0.0 })
        .collect()
}
