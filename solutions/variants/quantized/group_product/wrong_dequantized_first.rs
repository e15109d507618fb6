//! Each weight is scaled before it is multiplied.

pub const GROUP: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let weights = groups.iter().flat_map(|group| group.integers.map(|i| group.scale * i as f32));
    weights.zip(x).fold(0.0, |sum, (weight, x)| weight.mul_add(*x, sum))
}
