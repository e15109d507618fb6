//! A new sampler at each step, from the seed and the number of tokens.

use slowburn::sampling::{Sampler, SamplingParams};

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Vec<u32>,
    pub max_tokens: usize,
    pub seed: u64,
    pub joins_at: usize,
}

pub fn batched(requests: &[Request], forward: &dyn Fn(&[u32]) -> Vec<f32>) -> Vec<Vec<u32>> {
    let mut samplers: Vec<Sampler> = requests.iter().map(|r| new_sampler(r.seed)).collect();
    let mut outputs: Vec<Vec<u32>> = vec![Vec::new(); requests.len()];
    let mut step = 0;
    while (0..requests.len()).any(|i| outputs[i].len() < requests[i].max_tokens) {
        for (i, request) in requests.iter().enumerate() {
            let output = &mut outputs[i];
            if step < request.joins_at || output.len() == request.max_tokens {
                continue;
            }
            let logits = forward(&[request.prompt.as_slice(), output].concat());
            let mut s = new_sampler(request.seed + output.len() as u64);
            let token = s.sample(&logits, &request.prompt, output);
            output.push(token.expect("logits are finite"));
        }
        step += 1;
    }
    outputs
}

fn new_sampler(seed: u64) -> Sampler {
    let params = SamplingParams { seed, ..SamplingParams::default() };
    Sampler::new(&params).expect("the default parameters are valid")
}
