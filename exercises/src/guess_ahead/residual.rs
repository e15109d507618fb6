//! Residual sampling: accept a guess by chance, and replace it so that the distribution stays.

/// With which probability a guess is accepted: `p / q` of the token, and 1 where that is more.
///
/// `p` is the target's distribution, `[vocab]`, and `q` the draft's, from which `token` was drawn.
/// Where `q` of the token is 0, the draft cannot have drawn it: the result may be any probability,
/// but it has to be one, from 0 to 1.
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

/// The distribution from which a token is drawn in the place of a rejected guess, `[vocab]`: of each
/// token as much as `p` has more than `q`, `max(0, p - q)`, divided by the sum of all of these.
///
/// - The sum may be as small as a positive f64 can be, and so may be each number.
/// - Where no token has more in `p` than in `q`, both are equal, and no guess is ever rejected. The
///   result is `p` then.
///
/// ```text
/// p           0.5  0.25  0.25
/// q           0.25 0.75  0
/// max         0.25 0     0.25      sum 0.5
/// residual    0.5  0     0.5
/// ```
///
/// So the token is drawn from `q`, accepted or replaced, and in the end distributed as `p` says. Of
/// token 0 in the example: drawn and accepted 0.25, and rejected is only token 1, with 0.75 times 2/3,
/// of which half is replaced by token 0: 0.25 + 0.25 is 0.5.
pub fn residual(p: &[f64], q: &[f64]) -> Vec<f64> {
    todo!()
}
