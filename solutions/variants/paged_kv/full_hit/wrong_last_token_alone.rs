//! Only the last token is computed: it is written into a block of the cache.

use std::collections::HashSet;

const BLOCK_SIZE: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub start: usize,
    pub tokens: Vec<u32>,
    pub wants_logits: bool,
}

#[derive(Debug, Default)]
pub struct Reader {
    cached: HashSet<Vec<u32>>,
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn read(&mut self, prompt: &[u32], token_budget: usize) -> Vec<Chunk> {
        let start = self.cached_tokens(prompt).min(prompt.len() - 1);
        let chunks = chunks(prompt, start, token_budget);
        self.register(prompt);
        chunks
    }

    fn cached_tokens(&self, prompt: &[u32]) -> usize {
        let mut cached = 0;
        for block in prompt.chunks_exact(BLOCK_SIZE) {
            let end = cached + block.len();
            if !self.cached.contains(&prompt[..end]) {
                break;
            }
            cached = end;
        }
        cached
    }

    fn register(&mut self, prompt: &[u32]) {
        let mut end = BLOCK_SIZE;
        while let Some(prefix) = prompt.get(..end) {
            self.cached.insert(prefix.to_vec());
            end += BLOCK_SIZE;
        }
    }
}

fn chunks(prompt: &[u32], start: usize, token_budget: usize) -> Vec<Chunk> {
    let mut start = start;
    let mut chunks = Vec::new();
    for tokens in prompt[start..].chunks(token_budget) {
        let end = start + tokens.len();
        chunks.push(Chunk {
            start,
            tokens: tokens.to_vec(),
            wants_logits: end == prompt.len(),
        });
        start = end;
    }
    chunks
}
