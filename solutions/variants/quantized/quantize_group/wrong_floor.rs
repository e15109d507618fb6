//! Always down.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    let scale = greatest / 127.0;
    (scale, weights.iter().map(|weight| (weight / scale).floor() as i8).collect())
}
