//! An error ends the text, and nobody hears of it.

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
        let Ok(token) = choose(&mut sampler, &logits, &text, prompt.len()) else {
            break;
        };
        text.push(token);
    }
    Ok(text.split_off(prompt.len()))
}

fn choose(sampler: &mut Sampler, logits: &[f32], text: &[u32], prompt: usize) -> Result<u32> {
    let (prompt, output) = text.split_at(prompt);
    sampler.sample(logits, prompt, output)
}
