//! Both halves at once, as the page does it, with a list of angles.

pub fn rope(x: &[f32], position: usize, theta: f64) -> Vec<f32> {
    let (first, second) = x.split_at(x.len() / 2);
    let angles: Vec<f64> = (0..first.len())
        .map(|i| position as f64 / theta.powf(i as f64 / first.len() as f64))
        .collect();
    let halves = first.iter().zip(second).zip(&angles);
    let new_first = halves
        .clone()
        .map(|((&a, &b), phi)| (f64::from(a) * phi.cos() - f64::from(b) * phi.sin()) as f32);
    let new_second =
        halves.map(|((&a, &b), phi)| (f64::from(b) * phi.cos() + f64::from(a) * phi.sin()) as f32);
    new_first.chain(new_second).collect()
}
