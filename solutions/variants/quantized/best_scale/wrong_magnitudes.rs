//! Without signs.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let products = weights.iter().zip(integers).map(|(w, i)| (w * f32::from(*i)).abs());
    let square: f32 = integers.iter().map(|integer| f32::from(*integer).powi(2)).sum();
    if square == 0.0 {
        0.0
    } else {
        products.sum::<f32>() / square
    }
}
