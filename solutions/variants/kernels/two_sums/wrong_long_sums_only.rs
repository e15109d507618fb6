//! Short sums are mended, long ones are still summed in four parts.

pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let short = |weights: &[f32], x: &[f32]| {
        weights.iter().zip(x).fold(0.0_f32, |sum, (weight, x)| weight.mul_add(*x, sum))
    };
    let sum = |weights: &Vec<f32>, row: &Vec<f32>| {
        if x.len() == 1 && row.len() > 64 {
            dot(weights, row)
        } else {
            short(weights, row)
        }
    };
    x.iter().map(|row| weights.iter().map(|weights| sum(weights, row)).collect()).collect()
}

fn dot(weights: &[f32], x: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 4];
    for (weights, x) in weights.chunks(4).zip(x.chunks(4)) {
        for (sum, (weight, x)) in sums.iter_mut().zip(weights.iter().zip(x)) {
            *sum = weight.mul_add(*x, *sum);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
