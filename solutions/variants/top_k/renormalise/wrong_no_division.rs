//! Removes, and does not divide: the sum is less than 1.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    probabilities.iter().zip(kept).map(|(&p, &kept)| if kept { p } else { 0.0 }).collect()
}
