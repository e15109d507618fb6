//! On a busy day the same request gave another text; now it doesn't.
//!
//! Why: a generator is a list of random numbers, fixed by its seed, and each draw takes the next.
//! With one generator for all, the draws of the others decide which numbers are left for me. So
//! every request gets a separate sampler, made from the request's seed once, before its first
//! token.
//!
//! What it costs: the state of a generator for each request, a few hundred bytes next to a KV cache
//! of many thousands.
//!
//! A common wrong turn: making a new generator from the seed at every step. Then no neighbour
//! interferes, but every token is drawn with the same random number, and the text goes in circles.

use slowburn::sampling::{Sampler, SamplingParams};

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Vec<u32>,
    pub max_tokens: usize,
    pub seed: u64,
    /// The step at which it joins the batch, from 0.
    pub joins_at: usize,
}

/// Generates all texts side by side, one token for each of them a step. `forward(text)` gives the
/// logits `[vocab]` after a text.
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
            let token = samplers[i].sample(&logits, &request.prompt, output);
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
