//! The factor from weights to integers is fitted, and inverted.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let pairs = weights.iter().zip(integers).map(|(w, i)| (*w, f32::from(*i)));
    let (product, square) = pairs.fold((0.0, 0.0), |sums, (w, i)| (sums.0 + w * i, sums.1 + w * w));
    if product == 0.0 {
        0.0
    } else {
        square / product
    }
}
