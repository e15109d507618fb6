//! The angle is computed in `f32`, which has too few digits for a far position.

pub fn rope(x: &[f32], position: usize, theta: f64) -> Vec<f32> {
    let half = x.len() / 2;
    let mut turned = x.to_vec();
    for i in 0..half {
        let angle = position as f32 * (theta as f32).powf(-2.0 * i as f32 / x.len() as f32);
        let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
        let (a, b) = (x[i], x[i + half]);
        turned[i] = a * cos - b * sin;
        turned[i + half] = b * cos + a * sin;
    }
    turned
}
