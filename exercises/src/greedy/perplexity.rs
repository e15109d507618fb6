//! How sure a model was of a text.

/// How surprised is a model by the text `ids`? One number answers that for a whole text: the
/// perplexity.
///
/// The model has read `ids` at once. `rows[i]` is its prediction after position `i`: the natural
/// logarithms of the probabilities of all tokens, `[vocab]`, for the token that follows `ids[i]`.
/// There are as many rows as ids.
///
/// The perplexity is the exponential of the mean surprise, and the surprise of a token is its
/// log-probability with the sign turned. Two tokens with the probabilities 0.5 and 0.125 give 4.
///
/// - No row predicts the first token, so it doesn't count. A text without any other token has no
///   perplexity: `None`.
/// - The probability of a long text is 0 in an `f64`, yet its perplexity is an ordinary number.
///   Texts have up to 5,000 tokens.
/// - The result may be off by a thousandth of its value. How you add up is your choice.
/// - A token of probability 0 has the log-probability -inf. The perplexity is then infinite.
///
/// ```text
/// ids   2    1    0             rows[0]  ln [0.25, 0.5,  0.25 ]
///            |    |             rows[1]  ln [0.125, 0.5, 0.375]
///          0.5  0.125           rows[2]  what comes after the text: not needed
///
/// perplexity  4
/// ```
pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    todo!()
}
