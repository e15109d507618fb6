//! A sampler is made when its request joins, and lies beside its output.

use slowburn::sampling::{Sampler, SamplingParams};

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Vec<u32>,
    pub max_tokens: usize,
    pub seed: u64,
    pub joins_at: usize,
}

pub fn batched(requests: &[Request], forward: &dyn Fn(&[u32]) -> Vec<f32>) -> Vec<Vec<u32>> {
    let mut running: Vec<(usize, Sampler)> = Vec::new();
    let mut outputs: Vec<Vec<u32>> = vec![Vec::new(); requests.len()];
    let last_step = requests.iter().map(|r| r.joins_at + r.max_tokens).max().unwrap_or(0);
    for step in 0..last_step {
        for (i, request) in requests.iter().enumerate() {
            if request.joins_at == step {
                running.push((i, new_sampler(request.seed)));
            }
        }
        running.retain(|(i, _)| outputs[*i].len() < requests[*i].max_tokens);
        for (i, sampler) in &mut running {
            let prompt = &requests[*i].prompt;
            let logits = forward(&[prompt.as_slice(), &outputs[*i]].concat());
            let token = sampler.sample(&logits, prompt, &outputs[*i]).unwrap();
            outputs[*i].push(token);
        }
    }
    outputs
}

fn new_sampler(seed: u64) -> Sampler {
    let params = SamplingParams { seed, ..SamplingParams::default() };
    Sampler::new(&params).expect("the default parameters are valid")
}
