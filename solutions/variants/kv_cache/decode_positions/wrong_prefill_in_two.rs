//! The prompt is read in two passes.

pub fn cached(
    prompt: &[u32],
    max_tokens: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<u32> {
    let mut output = Vec::new();
    let mut logits = forward(&prompt[..1], 0);
    if prompt.len() > 1 {
        logits = forward(&prompt[1..], 1);
    }
    let mut read = prompt.len();
    loop {
        let token = most_likely(&logits);
        output.push(token);
        if output.len() == max_tokens {
            return output;
        }
        logits = forward(&[token], read);
        read += 1;
    }
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
