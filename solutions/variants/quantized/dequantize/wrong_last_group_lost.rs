//! Whole groups only.

pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    let groups = scales.iter().zip(integers.chunks_exact(group));
    groups.flat_map(|(scale, group)| group.iter().map(move |i| scale * *i as f32)).collect()
}
