//! The naive loop.

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model chose a token that ends a text.
    Eos,
    /// There are as many new tokens as were asked for.
    Length,
    /// The prompt and the new tokens fill the context.
    Context,
}

/// Writes on after a prompt, always with the most likely token, and says why it stopped.
///
/// `model` takes the whole text so far, at least one id, and gives the logits of the token that
/// follows, `[vocab]`. No two of them are equal. The loop calls it once a step and takes the
/// token with the greatest logit. Returned are the new tokens, without the prompt.
///
/// - `eos` holds all tokens that end a text, none or several. Such a token is not kept. One that
///   stands in the prompt ends nothing.
/// - `max_tokens` counts new tokens only, whatever the prompt is. It may be as great as a `usize` can
///   be, and `context` too.
/// - `context` is how many tokens the prompt and the new ones may be together. `prompt` has at
///   least one and at most `context`.
/// - If `max_tokens` and the context end the text at the same token, it is `Length`. An end token that
///   is chosen at the last step that there may be is still `Eos`.
/// - Once it is known that no further token will be kept, the model is not called again.
///
/// ```text
/// a model that counts on, 3 after 2, and the end token 6:
///
/// generate(&model, &[2, 3], &[6], 10, 100)  -> ([4, 5], Eos)
/// generate(&model, &[2, 3], &[6], 1, 100)   -> ([4], Length)
/// generate(&model, &[2, 3], &[6], 3, 100)   -> ([4, 5], Eos)
/// generate(&model, &[2, 3], &[6], 10, 3)    -> ([4], Context)
/// ```
pub fn generate(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    eos: &[u32],
    max_tokens: usize,
    context: usize,
) -> (Vec<u32>, End) {
    todo!()
}
