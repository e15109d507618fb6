//! Computed as integers.

pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    (0..integers.len()).map(|i| (scales[i / group] * integers[i] as f32).trunc()).collect()
}
