//! One division for the group, and a product for each weight; ties go to even integers.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let mut greatest = 0.0;
    for weight in weights {
        if weight.abs() > greatest {
            greatest = weight.abs();
        }
    }
    let inverse = if greatest > 0.0 {
        127.0 / greatest
    } else {
        0.0
    };
    let integer = |weight: &f32| (weight * inverse).round_ties_even().clamp(-127.0, 127.0) as i8;
    (greatest / 127.0, weights.iter().map(integer).collect())
}
