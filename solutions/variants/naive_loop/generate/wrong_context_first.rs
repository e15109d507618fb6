//! Where both limits are reached, the context is named.

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model chose a token that ends a text.
    Eos,
    /// There are as many new tokens as were asked for.
    Length,
    /// The prompt and the new tokens fill the context.
    Context,
}

pub fn generate(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    eos: &[u32],
    max_tokens: usize,
    context: usize,
) -> (Vec<u32>, End) {
    let left = context - prompt.len();
    let (room, when_full) = if max_tokens < left {
        (max_tokens, End::Length)
    } else {
        (left, End::Context)
    };
    let mut text = prompt.to_vec();
    let mut end = when_full;
    for _ in 0..room {
        let token = best(&model(&text));
        if eos.contains(&token) {
            end = End::Eos;
            break;
        }
        text.push(token);
    }
    (text.split_off(prompt.len()), end)
}

/// The token with the greatest logit.
fn best(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
