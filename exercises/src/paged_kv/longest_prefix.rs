//! The longest prefix of a prompt that is in the prefix cache.

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

/// Most prompts begin like an earlier one, and its blocks may still be in the prefix cache. Which
/// blocks of `prompt` don't have to be computed? Return their ids, from the beginning on.
///
/// `cache` holds full blocks under their chained hashes: `hash(parent, tokens)` is the hash of a
/// block with these tokens, where `parent` is the hash of the block before it, or `ROOT` for the
/// first.
///
/// - The blocks follow each other from the beginning of the prompt. At the first that is not in the
///   cache you stop, whatever is cached of the blocks behind it.
/// - Two blocks may have the same hash, so the hash alone is no proof. The block you find has to
///   hold the tokens of the prompt, behind the block that you found before.
/// - The last token of the prompt is always computed: the step needs its logits. So a block with
///   the last token in it is never taken.
/// - A block holds `block_size` tokens, at least 1. The prompt may be empty.
///
/// ```text
/// block_size 2, in the cache: the blocks of 1 2 3 4 5 6, as 30, 31 and 32
///
/// prompt 1 2 3 4 5      30 31
/// prompt 1 2 3 4        30         31 would leave nothing to compute
/// prompt 1 2 9 4 5 6    30         9 4 is not there, and behind it nothing counts
/// prompt 3 4 5 6 7      none       31 holds 3 4 behind 1 2
/// ```
pub fn longest_prefix(
    cache: &HashMap<u64, CachedBlock>,
    prompt: &[u32],
    block_size: usize,
    hash: &dyn Fn(u64, &[u32]) -> u64,
) -> Vec<u32> {
    todo!()
}
