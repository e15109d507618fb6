//! By way of the logarithm of the sum, in f32: off by up to 0.00003 for scores near 1000.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(sink, f32::max);
    let sum = scores.iter().chain([&sink]).map(|score| (score - greatest).exp()).sum::<f32>();
    let log_sum = greatest + sum.ln();
    scores.iter().map(|score| (score - log_sum).exp()).collect()
}
