//! Each block with the time of its last release; the earliest goes.

use std::collections::HashMap;

#[derive(Debug, Clone, Default)]
pub struct PrefixCache {
    blocks: HashMap<u32, Use>,
    clock: u64,
}

#[derive(Debug, Clone, Default)]
struct Use {
    owners: u32,
    released: u64,
}

impl PrefixCache {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn acquire(&mut self, blocks: &[u32]) {
        for &block in blocks {
            self.blocks.entry(block).or_default().owners += 1;
        }
    }

    pub fn release(&mut self, blocks: &[u32]) {
        for block in blocks.iter().rev() {
            if let Some(block) = self.blocks.get_mut(block) {
                self.clock += 1;
                block.owners -= 1;
                block.released = self.clock;
            }
        }
    }

    pub fn evict(&mut self) -> Option<u32> {
        let idle = self.blocks.iter().filter(|(_, block)| block.owners == 0);
        let block = *idle.min_by_key(|(_, block)| block.released)?.0;
        self.blocks.remove(&block);
        Some(block)
    }
}
