//! Who has finished leaves the list of sequences but not the list of samplers: the others move up to a neighbour's.

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
    let mut running: Vec<usize> = (0..requests.len()).collect();
    let mut step = 0;
    loop {
        running.retain(|&i| outputs[i].len() < requests[i].max_tokens);
        if running.is_empty() {
            return outputs;
        }
        for (place, &i) in running.iter().enumerate() {
            let request = &requests[i];
            if step < request.joins_at {
                continue;
            }
            let logits = forward(&[request.prompt.as_slice(), &outputs[i]].concat());
            let token = samplers[place].sample(&logits, &request.prompt, &outputs[i]).unwrap();
            outputs[i].push(token);
        }
        step += 1;
    }
}

fn new_sampler(seed: u64) -> Sampler {
    let params = SamplingParams { seed, ..SamplingParams::default() };
    Sampler::new(&params).expect("the default parameters are valid")
}
