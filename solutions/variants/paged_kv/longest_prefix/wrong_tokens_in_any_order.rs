//! The tokens are compared as a set.

use std::collections::HashMap;

pub const ROOT: u64 = 0;

#[derive(Debug, Clone, PartialEq)]
pub struct CachedBlock {
    pub block: u32,
    pub parent: Option<u32>,
    pub tokens: Vec<u32>,
}

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
            Some(cached)
                if tokens.iter().all(|token| cached.tokens.contains(token))
                    && cached.parent == blocks.last().copied() =>
            {
                blocks.push(cached.block);
            }
            _ => break,
        }
    }
    blocks
}
