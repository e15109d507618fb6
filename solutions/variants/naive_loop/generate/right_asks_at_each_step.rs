//! The limits are looked at before each step.

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
    let mut new = Vec::new();
    loop {
        if new.len() == max_tokens {
            return (new, End::Length);
        }
        if prompt.len() + new.len() == context {
            return (new, End::Context);
        }
        let logits = model(&[prompt, &new].concat());
        let Some(token) = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])) else {
            return (new, End::Eos);
        };
        if eos.contains(&(token as u32)) {
            return (new, End::Eos);
        }
        new.push(token as u32);
    }
}
