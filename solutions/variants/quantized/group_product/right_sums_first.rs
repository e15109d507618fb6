//! All sums first, then all scales.

pub const GROUP: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let sums: Vec<f32> = (0..groups.len())
        .map(|g| {
            (0..GROUP)
                .fold(0.0, |sum, k| x[g * GROUP + k].mul_add(groups[g].integers[k] as f32, sum))
        })
        .collect();
    groups.iter().zip(sums).fold(0.0, |output, (group, sum)| sum.mul_add(group.scale, output))
}
