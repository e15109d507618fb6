//! The sum of the weights, divided by that of the integers.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let sum: f32 = integers.iter().map(|integer| f32::from(*integer)).sum();
    if sum == 0.0 {
        0.0
    } else {
        weights.iter().sum::<f32>() / sum
    }
}
