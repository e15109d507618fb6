//! Residual sampling: accept a guess by chance, and replace it so that the distribution stays.

/// A draft with a temperature guesses by chance, and yet the text must come out as if only the
/// target had sampled it. That works if you accept a guess with the right probability: `p / q` of
/// the token, and 1 if that is more.
///
/// `p` is the target's distribution, `[vocab]`, and `q` the draft's, from which `token` was drawn.
/// If `q` of the token is 0, the draft can't have drawn it: the result may be any probability, but
/// it has to be one, from 0 to 1.
///
/// ```text
/// p    0.5  0.25  0.25
/// q    0.25 0.75  0
///
/// token 0     1        the draft draws it less often than it should
/// token 1     1/3      0.25 / 0.75
/// ```
pub fn acceptance(p: &[f64], q: &[f64], token: usize) -> f64 {
    todo!()
}

/// And in place of a rejected guess? You draw a token from the residual, `[vocab]`: for each token
/// the amount by which `p` exceeds `q`, `max(0, p - q)`, divided by the sum of all these amounts.
///
/// - The sum may be as small as a positive f64 can be, and so may each number.
/// - If no token has more in `p` than in `q`, both are equal, and no guess is ever rejected. The
///   result is `p` then.
///
/// ```text
/// p           0.5  0.25  0.25
/// q           0.25 0.75  0
/// max         0.25 0     0.25      sum 0.5
/// residual    0.5  0     0.5
/// ```
///
/// So a token is drawn from `q`, accepted or replaced, and in the end distributed as `p` demands.
/// Check it for token 0 of the example: it is drawn and accepted with 0.25. Only token 1 is ever
/// rejected, with 0.75 times 2/3 = 0.5, and half of that becomes token 0: 0.25 + 0.25 is 0.5.
pub fn residual(p: &[f64], q: &[f64]) -> Vec<f64> {
    todo!()
}
