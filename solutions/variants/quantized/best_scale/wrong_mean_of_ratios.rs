//! The mean of what each weight would like.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let ratios: Vec<f32> = weights
        .iter()
        .zip(integers)
        .filter(|(_, integer)| **integer != 0)
        .map(|(weight, integer)| weight / f32::from(*integer))
        .collect();
    if ratios.is_empty() {
        0.0
    } else {
        ratios.iter().sum::<f32>() / ratios.len() as f32
    }
}
