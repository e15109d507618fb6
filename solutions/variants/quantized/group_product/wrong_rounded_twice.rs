//! Without fused multiply-add.

pub const GROUP: usize = 4;

#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let mut output = 0.0;
    for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
        let mut sum = 0.0;
        for (integer, x) in group.integers.iter().zip(x) {
            sum += f32::from(*integer) * x;
        }
        output += group.scale * sum;
    }
    output
}
