//! Draws in the loop, with the one sampler.

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
        let token = sampler.sample(&logits, prompt, &text[prompt.len()..])?;
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}
