//! By way of the logarithm of the sum, in f64.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let wide: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
    let sink = f64::from(sink);
    let greatest = wide.iter().copied().fold(sink, f64::max);
    let sum = wide.iter().chain([&sink]).map(|s| (s - greatest).exp()).sum::<f64>();
    let log_sum = greatest + sum.ln();
    wide.iter().map(|s| (s - log_sum).exp() as f32).collect()
}
