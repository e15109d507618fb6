//! By way of the logarithm of the sum, in f64.

pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let wide: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
    let greatest = *wide.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    let log_sum = greatest + wide.iter().map(|s| (s - greatest).exp()).sum::<f64>().ln();
    wide.iter().map(|s| (s - log_sum).exp() as f32).collect()
}
