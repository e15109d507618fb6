use std::collections::HashMap;

use your_engine::Parts;

use super::longest_prefix::{CachedBlock, longest_prefix};

pub fn take_over(parts: &mut Parts) {
    parts.longest_prefix = |cache, prompt, block_size, hash| {
        let cached = |(hash, cached): (&u64, &your_engine::parts::CachedBlock)| {
            let tokens = cached.tokens.clone();
            (*hash, CachedBlock { block: cached.block, parent: cached.parent, tokens })
        };
        let cache: HashMap<u64, CachedBlock> = cache.iter().map(cached).collect();
        longest_prefix(&cache, prompt, block_size, hash)
    };
}
