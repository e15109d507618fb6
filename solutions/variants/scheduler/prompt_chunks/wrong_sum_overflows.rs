//! The decodes and the chunk are added before they are compared with the budget.

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
        let decoding = decodes.next().unwrap_or(0);
        let mut left = prompt - start;
        if left + decoding > token_budget {
            left = token_budget.saturating_sub(decoding).max(1);
        }
        let tokens = left.min(prompt - start);
        let wants_logits = start + tokens == prompt;
        chunks.push(Chunk { start, tokens, wants_logits });
        start += tokens;
    }
    chunks
}
