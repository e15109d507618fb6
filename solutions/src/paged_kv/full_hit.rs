//! A question that was asked twice is answered now.
//!
//! Why: a prompt whose length is a multiple of the block size has full blocks and nothing else.
//! Asked again, all of it is in the cache, no token is left to compute, and so there is no chunk
//! and no logits to draw from. The cache holds keys and values; logits come from the last token,
//! which has to go through the model once more. So take it off before you ask the cache. That
//! leaves its whole block out of the hit, and computing begins at a fresh block.
//!
//! What it costs: at most a block of tokens, for one prompt in `BLOCK_SIZE`.
//!
//! A common wrong turn: computing only the last token, at `prompt.len() - 1`. It is less work, but
//! it writes into a block that others read, and the values are the same only if the arithmetic is
//! bit-identical. Another: leaving the last block of a prompt out of the cache. Then longer prompts
//! that begin with it find one block less.

use std::collections::HashSet;

/// Positions of a block of keys and values.
const BLOCK_SIZE: usize = 4;

/// What one step computes of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The position of its first token in the prompt, from 0.
    pub start: usize,
    pub tokens: Vec<u32>,
    /// Whether the step computes the logits of its last token. The first new token is drawn from
    /// the logits of the prompt's last token.
    pub wants_logits: bool,
}

/// Plans how prompts are read. The keys and values of their full blocks stay in a cache, and a prompt
/// that begins with the same blocks does not compute them again.
#[derive(Debug, Default)]
pub struct Reader {
    /// The blocks of the cache. Each is identified by all tokens from the beginning of a prompt to
    /// the end of the block.
    cached: HashSet<Vec<u32>>,
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps that read `prompt`, of at most `token_budget` tokens each, at least 1. Afterwards
    /// its full blocks are in the cache.
    pub fn read(&mut self, prompt: &[u32], token_budget: usize) -> Vec<Chunk> {
        let start = self.cached_tokens(prompt);
        let chunks = chunks(prompt, start, token_budget);
        self.register(prompt);
        chunks
    }

    /// How many tokens of the prompt are taken from the cache. Its last token is never one of them:
    /// its logits have to be computed.
    fn cached_tokens(&self, prompt: &[u32]) -> usize {
        let mut cached = 0;
        let last = prompt.len().saturating_sub(1);
        for block in prompt[..last].chunks_exact(BLOCK_SIZE) {
            let end = cached + block.len();
            if !self.cached.contains(&prompt[..end]) {
                break;
            }
            cached = end;
        }
        cached
    }

    /// Puts the full blocks of a prompt into the cache.
    fn register(&mut self, prompt: &[u32]) {
        let mut end = BLOCK_SIZE;
        while let Some(prefix) = prompt.get(..end) {
            self.cached.insert(prefix.to_vec());
            end += BLOCK_SIZE;
        }
    }
}

/// Cuts what follows `start` into chunks. Logits are wanted only for the end of the prompt.
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
