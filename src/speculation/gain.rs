//! What speculation gains (Leviathan et al., arXiv 2211.17192, theorem 3.8, where `C(r) = C(1)`).
//!
//! In the formulas `a` is the acceptance rate of each draft token, `k` the number of draft tokens, `C(r)` what a
//! pass of `r` rows costs, and `d` what a draft token costs.

/// The expected tokens of a step, `1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a)`: the first one is
/// always sampled, and each next one if all draft tokens before it were accepted.
pub fn tokens_per_step(acceptance: f64, drafted: usize) -> f64 {
    let mut reached = 1.0; // the probability that a row counts
    let mut tokens = 0.0;
    for _ in 0..=drafted {
        tokens += reached;
        reached *= acceptance;
    }
    tokens
}

/// How many times as fast as plain decoding that is. `pass` is the cost of the pass, `C(k + 1)`, and
/// `draft` that of each draft token, in units of `C(1)`.
pub fn speed_up(acceptance: f64, drafted: usize, pass: f64, draft: f64) -> f64 {
    tokens_per_step(acceptance, drafted) / (pass + drafted as f64 * draft)
}

/// The number of draft tokens, up to `most`, with the greatest [`speed_up`]: 0 where none is greater
/// than 1. `pass` is the cost of a pass with so many draft tokens, in units of one without any.
pub fn best_length(acceptance: f64, most: usize, pass: impl Fn(usize) -> f64, draft: f64) -> usize {
    let mut best = (0, 1.0);
    for drafted in 1..=most {
        let gain = speed_up(acceptance, drafted, pass(drafted), draft);
        if gain > best.1 {
            best = (drafted, gain);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_closed_form() {
        for (acceptance, drafted) in [(0.0, 4), (0.5, 1), (0.8, 4), (0.9, 7)] {
            let closed = (1.0 - f64::powi(acceptance, drafted as i32 + 1)) / (1.0 - acceptance);
            assert!((tokens_per_step(acceptance, drafted) - closed).abs() < 1e-12);
        }
        assert_eq!(tokens_per_step(1.0, 4), 5.0);
        assert_eq!(tokens_per_step(0.7, 0), 1.0);
    }

    #[test]
    fn the_best_length_grows_with_the_acceptance_and_is_0_where_nothing_is_gained() {
        let pass = |drafted: usize| 1.0 + 0.2 * drafted as f64;
        let best = |acceptance| best_length(acceptance, 8, pass, 0.0);
        assert_eq!((best(0.0), best(0.2)), (0, 0));
        assert_eq!(best(1.0), 8);
        // (1 + a) / 1.2 > 1 where a > 0.2; a second draft token needs (1 + a + a^2) / 1.4 to be more.
        assert_eq!((best(0.25), best(0.6)), (1, 2));
        // A draft token that costs as much as it saves is no gain.
        assert_eq!(best_length(0.9, 8, |_| 1.0, 1.0), 0);
    }
}
