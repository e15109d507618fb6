//! Hands the sampler on and takes it back.

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

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
        let token;
        (token, sampler) = choose(sampler, &logits, &text, prompt.len())?;
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}

/// Draws the token that comes after `text`, of which the first `prompt` tokens are the prompt.
fn choose(
    mut sampler: Sampler,
    logits: &[f32],
    text: &[u32],
    prompt: usize,
) -> Result<(u32, Sampler)> {
    let (prompt, output) = text.split_at(prompt);
    let token = sampler.sample(logits, prompt, output)?;
    Ok((token, sampler))
}
