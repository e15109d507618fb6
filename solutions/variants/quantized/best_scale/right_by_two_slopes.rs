//! The slope of the parabola is a straight line: two points of it tell where it is 0.

pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let slope = |scale: f64| -> f64 {
        let pairs = weights.iter().zip(integers).map(|(w, i)| (f64::from(*w), f64::from(*i)));
        pairs.map(|(weight, integer)| (weight - scale * integer) * integer).sum()
    };
    let (at_zero, at_one) = (slope(0.0), slope(1.0));
    if at_zero == at_one {
        return 0.0;
    }
    (at_zero / (at_zero - at_one)) as f32
}
