//! In nats, turned into bits at the end.

pub fn entropy(probabilities: &[f32]) -> f64 {
    let mut nats = 0.0;
    for &p in probabilities {
        if p != 0.0 {
            nats -= f64::from(p) * f64::from(p).ln();
        }
    }
    nats / std::f64::consts::LN_2
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    2.0_f64.powf(entropy(probabilities))
}
