//! One sampler for all requests of a thread: what was written before changes the text.

use std::cell::RefCell;

use slowburn::Result;
use slowburn::sampling::{Sampler, SamplingParams};

pub fn one_word_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    params: &SamplingParams,
    max_tokens: usize,
) -> Result<Vec<u32>> {
    thread_local! {
        static SHARED: RefCell<Option<Sampler>> = const { RefCell::new(None) };
    }
    let mut sampler = match SHARED.take() {
        Some(sampler) => sampler,
        None => Sampler::new(params)?,
    };
    let mut text = prompt.to_vec();
    while text.len() < prompt.len() + max_tokens {
        let logits = model(&text);
        let token = sampler.sample(&logits, prompt, &text[prompt.len()..])?;
        text.push(token);
    }
    SHARED.set(Some(sampler));
    Ok(text.split_off(prompt.len()))
}
