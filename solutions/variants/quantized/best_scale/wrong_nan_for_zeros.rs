//! Zero divided by zero.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let products = weights.iter().zip(integers).map(|(w, i)| w * f32::from(*i));
    let squares = integers.iter().map(|integer| f32::from(*integer).powi(2));
    products.sum::<f32>() / squares.sum::<f32>()
}
