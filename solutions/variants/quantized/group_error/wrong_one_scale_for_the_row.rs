//! The scale of the whole row.

pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    let greatest = row.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return 0.0;
    }
    let scale = greatest / 7.0;
    let errors = row.iter().map(|w| (w - scale * (w / scale).round()).powi(2));
    errors.sum::<f32>() / row.len() as f32
}

pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    4.0 + 16.0 * weights.div_ceil(group) as f32 / weights as f32
}
