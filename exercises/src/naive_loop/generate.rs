//! The naive loop.

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model chose an end token.
    Eos,
    /// The text has as many new tokens as were asked for.
    Length,
    /// The prompt and the new tokens fill the context.
    Context,
}

/// The loop that everything else in the book makes faster. Ask the model for the next token, append
/// it, ask again. When do you stop, and what do you report as the reason?
///
/// `model` takes the whole text so far, at least one id, and gives the logits of the next token,
/// `[vocab]`. No two of them are equal. You call it once a step and take the token with the
/// greatest logit. Return the new tokens, without the prompt.
///
/// - `eos` holds all end tokens, none or several. An end token that the model chooses is not kept.
///   One that stands in the prompt ends nothing.
/// - `max_tokens` counts new tokens only, whatever the prompt is. It may be any `usize`, and so may
///   `context`.
/// - `context` is how many tokens the prompt and the new ones may be together. `prompt` has at
///   least one token and at most `context`.
/// - If `max_tokens` and the context end the text at the same token, the reason is `Length`. An end
///   token that the model chooses at the last possible step is still `Eos`.
/// - Once you know that no further token will be kept, don't call the model again.
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
