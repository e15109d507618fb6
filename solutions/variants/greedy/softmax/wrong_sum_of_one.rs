//! The result is divided by its own sum, which takes from the sink what it had.

pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(sink, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    let p: Vec<f32> = exps.iter().map(|exp| exp / sum).collect();
    let t: f32 = p.iter().sum();
    if t > 0.0 {
        p.iter().map(|v| v / t).collect()
    } else {
        p
    }
}
