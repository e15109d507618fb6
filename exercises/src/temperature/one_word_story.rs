//! Bug hunt: a story of one word.

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

/// Writes `max_tokens` tokens after a prompt, drawn as `params` demand, and returns them without
/// the prompt.
///
/// `model` gives the logits of the next token, `[vocab]`, for the text so far. The seed starts one
/// generator, and each token is drawn with what comes next from it. So the same `params` always
/// give the same tokens, and another seed gives others.
///
/// What was observed: at a temperature of 0 all texts are right. With a temperature above 0, and a
/// model that finds four tokens equally likely at every step, each text is one token again and
/// again:
///
/// ```text
/// seed 0    2 2 2 2 2 2 2 2
/// seed 1    3 3 3 3 3 3 3 3
/// seed 2    1 1 1 1 1 1 1 1
/// ```
///
/// With a real model the texts are not as monotonous, and yet some are odd in a way that is hard to
/// name. Find out why, and fix it. The signature stays.
///
/// # Errors
/// Parameters out of their range, or logits from which nothing can be drawn.
pub fn one_word_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    params: &SamplingParams,
    max_tokens: usize,
) -> Result<Vec<u32>> {
    let sampler = Sampler::new(params)?;
    let mut text = prompt.to_vec();
    while text.len() < prompt.len() + max_tokens {
        let logits = model(&text);
        let token = choose(&sampler, &logits, &text, prompt.len())?;
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}

/// Draws the token that comes after `text`, of which the first `prompt` tokens are the prompt.
fn choose(sampler: &Sampler, logits: &[f32], text: &[u32], prompt: usize) -> Result<u32> {
    let (prompt, output) = text.split_at(prompt);
    let mut sampler = sampler.clone();
    sampler.sample(logits, prompt, output)
}
