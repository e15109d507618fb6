//! The scale of zeros is made 1 "so that nothing is divided by 0".

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    let scale = if greatest < 1e-6 {
        1.0
    } else {
        greatest / 127.0
    };
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
