//! Residual sampling: the rule that keeps the distribution (Leviathan et al., arXiv 2211.17192; Chen et
//! al., arXiv 2302.01318).
//!
//! A draft token `x` was drawn from the draft's distribution `q`, and the model's is `p`. It is
//! accepted with the probability `min(1, p(x) / q(x))`. Otherwise the token is drawn from the residual,
//! `max(0, p - q)` divided by its sum. Whatever `q` is, the token then has the distribution `p`. But it is
//! not the token that plain sampling would give you with the same seed.

/// The probability with which the draft token is accepted. `target` and `draft` are distributions,
/// `[vocab]`.
pub fn acceptance(target: &[f64], draft: &[f64], token: usize) -> f64 {
    if target[token] >= draft[token] {
        1.0
    } else {
        target[token] / draft[token]
    }
}

/// The distribution of the token that replaces a rejected one, `[vocab]`. None where the two are
/// equal, so that nothing is ever rejected.
pub fn residual(target: &[f64], draft: &[f64]) -> Option<Vec<f64>> {
    let rest: Vec<f64> = target.iter().zip(draft).map(|(p, q)| (p - q).max(0.0)).collect();
    let sum: f64 = rest.iter().sum();
    (sum > 0.0).then(|| rest.iter().map(|rest| rest / sum).collect())
}

/// Checks a draft token with two uniform numbers in [0, 1), and returns the token that the text gets:
/// the draft token where it is accepted, and another one where it is not.
pub fn check(target: &[f64], draft: &[f64], token: usize, uniform: [f64; 2]) -> usize {
    if uniform[0] < acceptance(target, draft, token) {
        return token;
    }
    residual(target, draft).map_or(token, |residual| draw(&residual, uniform[1]))
}

/// The distribution of a draft token that is certain, `[vocab]`.
pub fn certain(token: usize, vocab: usize) -> Vec<f64> {
    (0..vocab).map(|id| if id == token { 1.0 } else { 0.0 }).collect()
}

/// The token at which the sum of the probabilities exceeds `uniform`, in the order of ids.
fn draw(probabilities: &[f64], mut uniform: f64) -> usize {
    let mut drawn = 0;
    for (token, &probability) in probabilities.iter().enumerate() {
        if probability > 0.0 {
            drawn = token;
            uniform -= probability;
            if uniform < 0.0 {
                break;
            }
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_draft_overrates_is_rejected_in_part_and_replaced_by_what_it_underrates() {
        let (target, draft) = ([0.5, 0.3, 0.2], [0.25, 0.6, 0.15]);
        assert_eq!([0, 1, 2].map(|token| acceptance(&target, &draft, token)), [1.0, 0.5, 1.0]);
        let residual = residual(&target, &draft).unwrap();
        let expected = [5.0 / 6.0, 0.0, 1.0 / 6.0];
        assert!(
            residual.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
            "{residual:?}"
        );
        assert_eq!(check(&target, &draft, 1, [0.49, 0.0]), 1);
        assert_eq!(check(&target, &draft, 1, [0.5, 0.8]), 0);
        assert_eq!(check(&target, &draft, 1, [0.5, 0.9]), 2);
    }

    #[test]
    fn equal_distributions_reject_nothing_and_disjoint_ones_everything() {
        assert_eq!(residual(&[0.5, 0.5], &[0.5, 0.5]), None);
        assert_eq!(check(&[0.0, 1.0], &[1.0, 0.0], 0, [0.0, 0.0]), 1);
    }
}
