//! One order for all, and each product is rounded.

pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    x.iter().map(|x| weights.iter().map(|weights| dot(weights, x)).collect()).collect()
}

fn dot(weights: &[f32], x: &[f32]) -> f32 {
    weights.iter().zip(x).map(|(weight, x)| weight * x).sum()
}
