//! A new sampler with the same seed at each step.

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

pub fn one_word_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    params: &SamplingParams,
    max_tokens: usize,
) -> Result<Vec<u32>> {
    let mut text = prompt.to_vec();
    while text.len() < prompt.len() + max_tokens {
        let logits = model(&text);
        let output = &text[prompt.len()..];
        let params = SamplingParams { seed: params.seed, ..params.clone() };
        let token = Sampler::new(&params)?.sample(&logits, prompt, output)?;
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}
