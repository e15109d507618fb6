//! The sum is kept from being small, as if it could be 0.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let left = |(&probability, &kept): (&f32, &bool)| if kept { probability } else { 0.0 };
    let left: Vec<f32> = probabilities.iter().zip(kept).map(left).collect();
    let sum: f32 = left.iter().sum::<f32>().max(f32::EPSILON);
    left.iter().map(|probability| probability / sum).collect()
}
