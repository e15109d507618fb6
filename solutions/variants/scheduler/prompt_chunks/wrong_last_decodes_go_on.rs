//! Behind the end of `decodes` as many decode as at last.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    pub start: usize,
    pub tokens: usize,
    pub wants_logits: bool,
}

pub fn prompt_chunks(prompt: usize, token_budget: usize, decodes: &[usize]) -> Vec<Chunk> {
    let mut decodes = decodes.iter().copied();
    let mut decoding = 0;
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < prompt {
        decoding = decodes.next().unwrap_or(decoding);
        let left = token_budget.saturating_sub(decoding).max(1);
        let tokens = left.min(prompt - start);
        let wants_logits = start + tokens == prompt;
        chunks.push(Chunk { start, tokens, wants_logits });
        start += tokens;
    }
    chunks
}
