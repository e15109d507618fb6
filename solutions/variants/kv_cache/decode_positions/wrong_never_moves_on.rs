//! Every new token is put at the position of the first one.

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
            logits = forward(&[token], prompt.len());
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
