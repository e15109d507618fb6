//! How far one model's distribution is from another's.
//!
//! Why: `ln(p / q)` is a difference of two log-probabilities, and you get those from the logits
//! without a probability in between: logit minus the logarithm of the sum of all `exp`. So nothing
//! becomes 0 that shouldn't, and no two nearly equal numbers are divided. A divergence looks at all
//! tokens at once, and changes even if the chosen token doesn't.
//!
//! What it costs: two passes over the vocabulary for each of both models.
//!
//! A common wrong turn: `p * (p / q).ln()` with a token that neither model can choose: 0 times a
//! NaN is NaN. And the other way around, from `q` to `p`, the divergence would not notice a model
//! that has forgotten a token.

/// The KL divergence of `q` from `p` in nats, where both are given as logits.
pub fn kl_divergence(p: &[f32], q: &[f32]) -> f64 {
    let (p, q) = (log_softmax(p), log_softmax(q));
    let mut sum = 0.0;
    for (p, q) in p.iter().zip(&q) {
        if *p == f64::NEG_INFINITY {
            continue;
        }
        if *q == f64::NEG_INFINITY {
            return f64::INFINITY; // where `p.exp()` is rounded to 0, the product would be NaN
        }
        sum += p.exp() * (p - q);
    }
    sum
}

/// The logarithm of each probability.
fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let above = |logit: &f32| f64::from(*logit) - f64::from(greatest);
    let log_sum = logits.iter().map(|logit| above(logit).exp()).sum::<f64>().ln();
    logits.iter().map(|logit| above(logit) - log_sum).collect()
}
