//! All that is cached first, and cut to what may be taken.

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
    let (mut parent, mut before) = (ROOT, None);
    let cached = prompt.chunks_exact(block_size).map_while(|tokens| {
        parent = hash(parent, tokens);
        let cached = cache.get(&parent)?;
        if cached.tokens != tokens || cached.parent != before {
            return None;
        }
        before = Some(cached.block);
        before
    });
    let most = prompt.len().saturating_sub(1) / block_size;
    cached.take(most).collect()
}
