//! The longest prefix of a prompt that is in the prefix cache.
//!
//! Why: you can compute the hash of a block only from its parent's, so the walk goes from the first
//! block on and ends by itself at the first that is missing. The last token is taken off before the
//! walk begins: what is left has exactly the full blocks that you may take, and no case needs a
//! correction afterwards.
//!
//! What it costs: the tokens of the prefix are hashed once and compared once, some microseconds,
//! while their keys and values would take milliseconds or seconds. One comparison of a parent
//! stands for all tokens before the block: the parent's tokens were compared on the way, and so on.
//!
//! A common wrong turn: believing the hash. A collision is rare, and when it comes, one user's
//! answer is computed from another's prompt. Another: taking the whole prompt if it is cached. Then
//! nothing is left to compute, and there are no logits to draw the first token from.

use std::collections::HashMap;

/// The parent of a text's first block.
pub const ROOT: u64 = 0;

/// A full block in the prefix cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedBlock {
    pub block: u32,
    /// The block before it, `None` for the first of a text.
    pub parent: Option<u32>,
    /// The tokens whose keys and values it holds.
    pub tokens: Vec<u32>,
}

/// The ids of the blocks of `prompt` that don't have to be computed, from its beginning on. The
/// last token is always computed.
pub fn longest_prefix(
    cache: &HashMap<u64, CachedBlock>,
    prompt: &[u32],
    block_size: usize,
    hash: &dyn Fn(u64, &[u32]) -> u64,
) -> Vec<u32> {
    let Some((_, before_the_last)) = prompt.split_last() else {
        return Vec::new();
    };
    let mut parent = ROOT;
    let mut blocks = Vec::new();
    for tokens in before_the_last.chunks_exact(block_size) {
        parent = hash(parent, tokens);
        match cache.get(&parent) {
            Some(cached) if cached.tokens == tokens && cached.parent == blocks.last().copied() => {
                blocks.push(cached.block);
            }
            _ => break,
        }
    }
    blocks
}
