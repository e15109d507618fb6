//! By the sampler of the crate, which has the same order.

use slowburn::sampling::{Sampler, SamplingParams};

#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub repetition_penalty: f32,
    pub temperature: f32,
    pub top_k: Option<usize>,
    pub top_p: Option<f32>,
    pub min_p: Option<f32>,
}

pub fn sampler_order(logits: &[f32], said: &[u32], rules: &Rules) -> Vec<f32> {
    let params = SamplingParams {
        repetition_penalty: rules.repetition_penalty,
        temperature: rules.temperature,
        top_k: rules.top_k,
        top_p: rules.top_p,
        min_p: rules.min_p,
        ..SamplingParams::default()
    };
    Sampler::new(&params).unwrap().distribution(logits, said, &[]).unwrap()
}
