//! Sampling, by the sampler of the crate: a rule at a time, so that each can be taken over.

use slowburn::sampling::{Sampler, SamplingParams};

pub fn at_temperature(logits: &[f32], temperature: f32) -> Result<Vec<f32>, String> {
    distribution(logits, SamplingParams { temperature, ..Default::default() })
}

pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    // The sampler begins with logits: a softmax of logarithms gives the probabilities back.
    let logits: Vec<f32> = probabilities.iter().map(|probability| probability.ln()).collect();
    let params = SamplingParams { top_p: Some(p), ..Default::default() };
    // Refused where no probability is above 0: the draw says so.
    distribution(&logits, params).unwrap_or_else(|_| probabilities.to_vec())
}

fn distribution(logits: &[f32], params: SamplingParams) -> Result<Vec<f32>, String> {
    let sampler = Sampler::new(&params).map_err(|error| error.to_string())?;
    sampler.distribution(logits, &[], &[]).map_err(|error| error.to_string())
}
