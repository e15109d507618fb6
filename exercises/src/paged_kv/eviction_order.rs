//! Eviction: which block of the prefix cache is evicted first.

use std::collections::{HashMap, VecDeque};

/// Full blocks that are in the prefix cache. A block that no sequence holds is idle: its keys and
/// values stay, for later requests with the same prefix, until its memory is needed.
#[derive(Debug, Clone, Default)]
pub struct PrefixCache {
    /// How many sequences hold each block. An idle block has 0, or is not in the map.
    owners: HashMap<u32, u32>,
    /// The idle blocks. The one in front is evicted first.
    idle: VecDeque<u32>,
}

impl PrefixCache {
    pub fn new() -> Self {
        Self::default()
    }

    /// A sequence takes `blocks`. They may be idle, they may have other owners, and they may be new
    /// to the cache. An idle block that is taken is no longer idle.
    pub fn acquire(&mut self, blocks: &[u32]) {
        todo!()
    }

    /// A sequence has ended, and gives back `blocks`, the blocks of its table in the order of their
    /// positions. It is an owner of each of them. A block that no other sequence holds becomes
    /// idle.
    pub fn release(&mut self, blocks: &[u32]) {
        todo!()
    }

    /// Memory is short, and an idle block has to go. Which one will be missed least? Evict it and
    /// return it: it is no longer in the cache. `None` if no block is idle: a block with an owner
    /// is never evicted.
    ///
    /// - The block whose last owner left first goes first: the least recently used one.
    /// - Of blocks that become idle in one call of `release`, the last of the table goes first. A
    ///   prefix is found from its head on, so a tail without its head is useless.
    ///
    /// ```text
    /// acquire 1 2 3                    a sequence with three blocks
    /// acquire 1 4                      another that begins as the first does
    /// release 1 2 3                    idle: 3 2           1 still has an owner
    /// release 1 4                      idle: 3 2 4 1
    /// acquire 1 2                      idle: 3 4
    /// evict -> 3, evict -> 4, evict -> None
    /// ```
    pub fn evict(&mut self) -> Option<u32> {
        todo!()
    }
}
