//! A prompt that is cached as a whole is taken as a whole.

use std::collections::HashMap;

pub const ROOT: u64 = 0;

#[derive(Debug, Clone, PartialEq)]
pub struct CachedBlock {
    pub block: u32,
    pub tokens: Vec<u32>,
}

pub fn longest_prefix(
    cache: &HashMap<u64, CachedBlock>,
    prompt: &[u32],
    block_size: usize,
    hash: &dyn Fn(u64, &[u32]) -> u64,
) -> Vec<u32> {
    let Some(_) = prompt.split_last() else {
        return Vec::new();
    };
    let mut parent = ROOT;
    let mut blocks = Vec::new();
    for tokens in prompt.chunks_exact(block_size) {
        parent = hash(parent, tokens);
        let Some(cached) = cache.get(&parent).filter(|cached| cached.tokens == tokens) else {
            break;
        };
        blocks.push(cached.block);
    }
    blocks
}
