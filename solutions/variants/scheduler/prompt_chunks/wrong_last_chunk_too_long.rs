//! The last chunk has more tokens than the prompt.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    pub start: usize,
    pub tokens: usize,
    pub wants_logits: bool,
}

pub fn prompt_chunks(prompt: usize, token_budget: usize, decodes: &[usize]) -> Vec<Chunk> {
    let mut decodes = decodes.iter().copied();
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < prompt {
        let left = token_budget.saturating_sub(decodes.next().unwrap_or(0)).max(1);
        let tokens = left;
        let wants_logits = start.saturating_add(tokens) >= prompt;
        chunks.push(Chunk { start, tokens, wants_logits });
        start = start.saturating_add(tokens);
    }
    chunks
}
