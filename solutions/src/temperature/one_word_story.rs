//! Bug hunt: a story of one word.
//!
//! Why: each draw should move the generator on, so that the next point is another. But `choose`
//! drew with a copy of the sampler and threw the copy away: the generator never moved, and every
//! step drew with the same point on the line. Four equal tokens show it at once. With a real model
//! the line is different at each step, and so is the token; only its place on the line is always
//! the same. A borrow that changes something must be `&mut`; `clone` is a way around it that
//! compiles.
//!
//! What it costs: less than before, because nothing is copied.
//!
//! A common wrong turn: making a new sampler at each step, with the seed plus the number of the
//! step. The points differ now, but the text of one seed is the next seed's, shifted by a step.

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

/// Writes `max_tokens` tokens after a prompt, drawn as `params` say, and returns them without the
/// prompt. `model` gives the logits of the next token, `[vocab]`, for the text so far. The seed starts
/// one generator for all of them.
///
/// # Errors
/// Parameters out of their range, or logits from which nothing can be drawn.
pub fn one_word_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    params: &SamplingParams,
    max_tokens: usize,
) -> Result<Vec<u32>> {
    let mut sampler = Sampler::new(params)?;
    let mut text = prompt.to_vec();
    while text.len() < prompt.len() + max_tokens {
        let logits = model(&text);
        let token = choose(&mut sampler, &logits, &text, prompt.len())?;
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}

/// Draws the token that comes after `text`, of which the first `prompt` tokens are the prompt.
fn choose(sampler: &mut Sampler, logits: &[f32], text: &[u32], prompt: usize) -> Result<u32> {
    let (prompt, output) = text.split_at(prompt);
    sampler.sample(logits, prompt, output)
}
