//! Always away from zero: now they grow.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = greatest / 7.0;
    let integer = |weight: &f32| {
        let number = weight / scale;
        (number.abs().ceil().copysign(number)).clamp(-7.0, 7.0) as i8
    };
    (scale, weights.iter().map(integer).collect())
}
