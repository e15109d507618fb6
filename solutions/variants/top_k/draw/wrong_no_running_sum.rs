//! Compares the point with each probability instead of with where its stretch ends.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let fits = |&probability: &f32| point < f64::from(probability);
    let last = || probabilities.iter().rposition(|&probability| probability > 0.0).unwrap();
    probabilities.iter().position(fits).unwrap_or_else(last)
}
