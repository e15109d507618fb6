//! 16 integers, so 8 on each side; but 8 is none of them.

pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    row.chunks(group).map(squared_error).sum::<f32>() / row.len() as f32
}

fn squared_error(weights: &[f32]) -> f32 {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return 0.0;
    }
    let scale = greatest / 8.0;
    let integer = |w: &f32| (w / scale).round().clamp(-8.0, 7.0);
    weights.iter().map(|w| (w - scale * integer(w)).powi(2)).sum()
}

pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    4.0 + 16.0 * weights.div_ceil(group) as f32 / weights as f32
}
