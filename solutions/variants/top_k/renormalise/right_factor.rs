//! With a loop, and a factor in f64.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let mut sum = 0.0;
    for id in 0..probabilities.len() {
        if kept[id] {
            sum += f64::from(probabilities[id]);
        }
    }
    let mut result = vec![0.0; probabilities.len()];
    for id in 0..probabilities.len() {
        if kept[id] {
            result[id] = (f64::from(probabilities[id]) * sum.recip()) as f32;
        }
    }
    result
}
