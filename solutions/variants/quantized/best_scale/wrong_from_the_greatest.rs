//! The scale that keeps the weight of greatest magnitude.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let pairs = weights.iter().zip(integers).filter(|(_, integer)| **integer != 0);
    let greatest = pairs.max_by_key(|(_, integer)| integer.unsigned_abs());
    greatest.map_or(0.0, |(weight, integer)| weight / f32::from(*integer))
}
