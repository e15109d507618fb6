//! Eviction: which block of the prefix cache is evicted first.
//!
//! Why: a queue of the idle blocks is in the right order by itself. A block that becomes idle goes
//! to its end, a block that is used again leaves it, and the front has been idle for the longest
//! time. You walk a table from its last block to the first, so that its tail stands before its
//! head: if memory for one block is needed, a prefix loses its end and stays useful. Without its
//! head it would be lost as a whole.
//!
//! What it costs: here, a search through the idle blocks for each block that is used again. A cache
//! with many of them keeps a linked list, or the time of the last use in an ordered map.
//!
//! A common wrong turn: leaving a block in the queue when it is used again, and skipping it there
//! while it has an owner. When it is released, its old place makes it the next to go, though it was
//! used a moment ago: the system prompt that everyone shares is evicted first.

use std::collections::{HashMap, VecDeque};

/// Full blocks that are in the prefix cache. A block that no sequence holds is idle.
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

    /// A sequence takes `blocks`.
    pub fn acquire(&mut self, blocks: &[u32]) {
        for &block in blocks {
            *self.owners.entry(block).or_default() += 1;
            self.idle.retain(|&idle| idle != block);
        }
    }

    /// A sequence has ended, and gives back the blocks of its table, in the order of their
    /// positions.
    pub fn release(&mut self, blocks: &[u32]) {
        for block in blocks.iter().rev() {
            let Some(owners) = self.owners.get_mut(block) else {
                continue;
            };
            *owners -= 1;
            if *owners == 0 {
                self.owners.remove(block);
                self.idle.push_back(*block);
            }
        }
    }

    /// Evicts the least recently used idle block. `None` if no block is idle.
    pub fn evict(&mut self) -> Option<u32> {
        self.idle.pop_front()
    }
}
