//! A bug hunt: a prompt that is sent twice gets no answer.

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

/// Plans how prompts are read. The keys and values of their full blocks stay in a cache, and a
/// prompt that begins with the same blocks does not compute them again.
///
/// **What was observed.** Every question is answered when it is asked for the first time. Asked
/// again, most are answered much sooner. But some never are: there is no error, nothing is
/// computed, and the reader waits. The same question with one more word is answered. It hits
/// questions of a dozen tokens as well as questions of thousands, about one in four.
///
/// Find the reason, and fix it. What should be:
///
/// - Every prompt, which has at least one token, gets the logits of its last token.
/// - Every block that doesn't have to be computed comes from the cache. A block of the cache is
///   never written, since others may be reading it: so computing begins at the beginning of a
///   block.
///
/// ```text
/// read(&[1, 2, 3, 4, 5, 6, 7, 8], 8)         1 to 8 from 0, wants logits
/// read(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 8)      9 from 8, wants logits
/// read(&[1, 2, 3, 4, 5, 6, 7, 8], 8)         5 to 8 from 4, wants logits
/// ```
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

    /// How many tokens of the prompt have their keys and values in the cache.
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
