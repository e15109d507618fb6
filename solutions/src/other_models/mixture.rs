//! A router: a softmax, the greatest few, and a weighted sum.
//!
//! Why: the layer has the weights of many networks, and a token pays for a few. The scores decide
//! which, and also how much each counts: a choice has no gradient, but a weight has one. That is
//! how a router was trained.
//!
//! What it costs: a matrix with a row for each expert, and a sort of as many numbers. Nothing next
//! to the experts.
//!
//! A common wrong turn: the softmax over only the experts taken, although the model was trained
//! without renormalisation. With renormalisation the two are the same: numbers that are divided by
//! their sum forget what they were divided by before.

/// Computes one expert for the token, by its number: `[d_model]`.
pub type Expert<'a> = dyn FnMut(usize) -> Vec<f32> + 'a;

/// What a layer of experts makes of a token: the weighted sum of what its experts compute, `[d_model]`.
pub fn mixture(
    scores: &[f32],
    per_token: usize,
    renormalized: bool,
    expert: &mut Expert<'_>,
) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shares: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a])); // stable
    let mut taken = order[..per_token].to_vec();
    taken.sort_unstable();
    let sum: f32 = if renormalized {
        taken.iter().map(|&number| shares[number]).sum()
    } else {
        shares.iter().sum()
    };
    let mut out = Vec::new();
    for number in taken {
        let computed = expert(number);
        out.resize(computed.len(), 0.0);
        for (out, x) in out.iter_mut().zip(computed) {
            *out += shares[number] / sum * x;
        }
    }
    out
}
