//! Returns only the tokens that stay: places are no longer ids.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let left: Vec<f32> =
        probabilities.iter().zip(kept).filter(|(_, kept)| **kept).map(|(&p, _)| p).collect();
    let sum: f32 = left.iter().sum();
    left.iter().map(|p| p / sum).collect()
}
