//! Counted by what is left of the prompt, and the last chunk marked in the end.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    pub start: usize,
    pub tokens: usize,
    pub wants_logits: bool,
}

pub fn prompt_chunks(prompt: usize, token_budget: usize, decodes: &[usize]) -> Vec<Chunk> {
    let mut unread = prompt;
    let busy = decodes.iter().map(|&decoding| token_budget.saturating_sub(decoding));
    let rooms = busy.chain(std::iter::repeat(token_budget)).map(|room| room.max(1));
    let mut chunks = Vec::new();
    for room in rooms {
        let tokens = room.min(unread);
        chunks.push(Chunk { start: prompt - unread, tokens, wants_logits: false });
        unread -= tokens;
        if unread == 0 {
            break;
        }
    }
    if let Some(last) = chunks.last_mut() {
        last.wants_logits = true;
    }
    chunks
}
