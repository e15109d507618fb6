//! In f64, and rounded in the end.

pub const GROUP: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let mut output = 0.0_f64;
    for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
        let products = group.integers.iter().zip(x).map(|(i, x)| f64::from(*i) * f64::from(*x));
        output += f64::from(group.scale) * products.sum::<f64>();
    }
    output as f32
}
