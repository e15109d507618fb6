//! A scale for each weight, looked up by its index; in f64.

pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    let scale = |i: usize| {
        let first = i / group * group;
        let last = (first + group).min(row.len());
        row[first..last].iter().map(|weight| f64::from(weight.abs())).fold(0.0, f64::max) / 7.0
    };
    let mut sum = 0.0;
    for (i, weight) in row.iter().enumerate() {
        let scale = scale(i);
        if scale > 0.0 {
            let weight = f64::from(*weight);
            sum += (weight - (weight / scale).round() * scale).powi(2);
        }
    }
    (sum / row.len() as f64) as f32
}

pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    4.0 + 16.0 * weights.div_ceil(group) as f32 / weights as f32
}
