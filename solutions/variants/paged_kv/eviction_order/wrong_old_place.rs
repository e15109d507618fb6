//! A block that is used again keeps its old place in the queue.

use std::collections::{HashMap, VecDeque};

#[derive(Debug, Clone, Default)]
pub struct PrefixCache {
    owners: HashMap<u32, u32>,
    idle: VecDeque<u32>,
}

impl PrefixCache {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn acquire(&mut self, blocks: &[u32]) {
        for &block in blocks {
            *self.owners.entry(block).or_default() += 1;
        }
    }

    pub fn release(&mut self, blocks: &[u32]) {
        for block in blocks.iter().rev() {
            let Some(owners) = self.owners.get_mut(block) else {
                continue;
            };
            *owners -= 1;
            if *owners == 0 {
                self.owners.remove(block);
                if !self.idle.contains(block) {
                    self.idle.push_back(*block);
                }
            }
        }
    }

    pub fn evict(&mut self) -> Option<u32> {
        let at = self.idle.iter().position(|block| !self.owners.contains_key(block))?;
        self.idle.remove(at)
    }
}
