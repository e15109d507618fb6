//! As the stub has it: every step draws with a copy of the untouched generator.

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

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
