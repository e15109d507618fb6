//! The whole text is handed over at each step, though it is in the cache.

pub fn cached(
    prompt: &[u32],
    max_tokens: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<u32> {
    let mut output = Vec::new();
    let mut logits = forward(prompt, 0);
    while output.len() < max_tokens {
        let token = most_likely(&logits);
        output.push(token);
        if output.len() < max_tokens {
            logits = forward(&[prompt, output.as_slice()].concat(), 0);
        }
    }
    output
}

fn most_likely(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
