//! The naive loop.
//!
//! Why: both limits bound the number of new tokens, and you know both before the first step. The
//! smaller one is the room, and it is also the reason, unless the model ends the text before. That
//! leaves only one thing to look for inside the loop: an end token. You look at the token that was
//! chosen, so an end token in the prompt ends nothing.
//!
//! What it costs: one call of the model a step, each over the whole text: the square of the length.
//!
//! A common wrong turn: comparing the length of the text with `max_tokens`. If the prompt is longer
//! than that, the answer is empty, and nobody learns why.

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

/// Writes on after a prompt, always with the most likely token, and says why it stopped.
///
/// `model` takes the whole text so far and gives the logits of the token that follows, `[vocab]`.
/// Returned are the new tokens. A token of `eos` ends the text and is no part of it.
pub fn generate(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    eos: &[u32],
    max_tokens: usize,
    context: usize,
) -> (Vec<u32>, End) {
    let left = context - prompt.len();
    let (room, when_full) = if max_tokens <= left {
        (max_tokens, End::Length)
    } else {
        (left, End::Context)
    };
    let mut text = prompt.to_vec();
    let mut end = when_full;
    for _ in 0..room {
        let token = best(&model(&text));
        if eos.contains(&token) {
            end = End::Eos;
            break;
        }
        text.push(token);
    }
    (text.split_off(prompt.len()), end)
}

/// The token with the greatest logit.
fn best(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
