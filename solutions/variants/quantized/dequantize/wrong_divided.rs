//! The integer is divided by the scale.

pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    (0..integers.len()).map(|i| integers[i] as f32 / scales[i / group]).collect()
}
