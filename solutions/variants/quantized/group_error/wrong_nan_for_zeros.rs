//! Zeros are divided by a scale of 0.

pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    row.chunks(group).map(squared_error).sum::<f32>() / row.len() as f32
}

fn squared_error(weights: &[f32]) -> f32 {
    let scale = weights.iter().fold(0.0_f32, |greatest, w| greatest.max(w.abs())) / 7.0;
    weights.iter().map(|w| (w - scale * (w / scale).round()).powi(2)).sum()
}

pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    4.0 + 16.0 * weights.div_ceil(group) as f32 / weights as f32
}
