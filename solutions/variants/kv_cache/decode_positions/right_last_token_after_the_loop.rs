//! The last token is chosen behind the loop, where no pass follows.

pub fn cached(
    prompt: &[u32],
    max_tokens: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<u32> {
    let mut output: Vec<u32> = Vec::with_capacity(max_tokens);
    let mut logits = forward(prompt, 0);
    for start in prompt.len()..prompt.len() + max_tokens - 1 {
        let token = most_likely(&logits);
        logits = forward(&[token], start);
        output.push(token);
    }
    output.push(most_likely(&logits));
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
