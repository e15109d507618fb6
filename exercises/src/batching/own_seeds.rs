//! A bug hunt: under load the same request gives a different text.

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

/// Generates all texts together, one token for each of them a step, each drawn at random. A request
/// joins at its step, and leaves when it has all its tokens.
///
/// `forward(text)` gives the logits `[vocab]` after a text; they depend on the text alone and are
/// finite. Returns the new tokens of each request, in the order of the requests.
///
/// **What was observed.** A user repeats a request on a quiet evening, alone, and gets the same
/// text each time: prompt, seed and model are the same. Under load the same request gives a
/// different text each time. The logits were compared: for the same text they are the same,
/// whatever else is in the batch.
///
/// Find the reason, and fix it. The text of a request should depend on its prompt and its seed,
/// and on nothing else: not on the other requests, not on its place among them, not on when it
/// joins. The text of a request that is alone is right already, and must stay as it is.
pub fn batched(requests: &[Request], forward: &dyn Fn(&[u32]) -> Vec<f32>) -> Vec<Vec<u32>> {
    let Some(first) = requests.first() else {
        return Vec::new();
    };
    let mut sampler = new_sampler(first.seed);
    let mut outputs: Vec<Vec<u32>> = vec![Vec::new(); requests.len()];
    let mut step = 0;
    while (0..requests.len()).any(|i| outputs[i].len() < requests[i].max_tokens) {
        for (request, output) in requests.iter().zip(&mut outputs) {
            if step < request.joins_at || output.len() == request.max_tokens {
                continue;
            }
            let logits = forward(&[request.prompt.as_slice(), output].concat());
            let token = sampler.sample(&logits, &request.prompt, output);
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
