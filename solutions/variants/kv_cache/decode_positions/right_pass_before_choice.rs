//! A pass at the head of the loop reads what is new: the prompt, then one token.

pub fn cached(
    prompt: &[u32],
    max_tokens: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<u32> {
    let mut text = prompt.to_vec();
    let mut read = 0;
    for _ in 0..max_tokens {
        let logits = forward(&text[read..], read);
        read = text.len();
        text.push(most_likely(&logits));
    }
    text[prompt.len()..].to_vec()
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
