//! One step of a beam search.

/// A text that the search follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The prompt and the new tokens, without the end token.
    pub ids: Vec<u32>,
    /// The log-probability of all new tokens together, that of the end token included.
    pub log_probability: f32,
    /// Whether the end token was chosen.
    pub finished: bool,
}

/// Continues all beams by one token, and keeps the `width` most likely of all texts, best first.
///
/// `model` takes the ids of a text and gives the log-probabilities of the token that follows,
/// `[vocab]`. The log-probability of a text is the sum over its tokens.
///
/// - A beam that is not finished is continued with every token. It does not stay as it is.
/// - With the token `end` it becomes finished. That token is not appended to the ids, but its
///   log-probability counts.
/// - A token with the log-probability -inf cannot come: that text is not among those to choose
///   from.
/// - A finished beam stays as it is, and competes with all others for its place. The model is not
///   asked about it.
/// - If there are fewer than `width` texts, all stay. `width` is at least 1.
/// - Of texts that are equally likely, the one from the earlier beam comes first, and from one beam
///   the one with the lower token id. `beams` may be in any order.
///
/// ```text
/// tokens x (0) and y (1), the end token 2, width 2, probabilities instead of their logarithms:
///
/// beams    x 0.6    y 0.4
/// after x:  x 0.4   y 0.35   end 0.25    ->  xx 0.24   xy 0.21   x, finished 0.15
/// after y:  x 0.9   y 0.06   end 0.04    ->  yx 0.36   yy 0.024  y, finished 0.016
///
/// result   yx 0.36   xx 0.24
/// ```
pub fn beam_step(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    beams: &[Beam],
    end: u32,
    width: usize,
) -> Vec<Beam> {
    todo!()
}
