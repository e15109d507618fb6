//! The scale of the last group counts for all.

pub const GROUP: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let integers = groups.iter().flat_map(|group| group.integers);
    let sum = integers.zip(x).fold(0.0, |sum, (integer, x)| f32::from(integer).mul_add(*x, sum));
    groups.last().map_or(0.0, |group| group.scale * sum)
}
