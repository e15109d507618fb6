//! Blocks: where positions lie, who holds what, and prefixes that are there already.

use std::collections::{BTreeSet, HashMap};

use crate::parts::{Allocator, BlockTable, CachedBlock, Hash, Place};

pub fn look_up(table: &BlockTable, block_size: usize, positions: &[usize]) -> Vec<Option<Place>> {
    let written = |position: &&usize| **position < table.length;
    let place = |position: &usize| {
        let (entry, offset) = (position / block_size, position % block_size);
        Some(Place { block: *table.blocks.get(entry)?, offset })
    };
    positions.iter().map(|position| Some(position).filter(written).and_then(place)).collect()
}

/// The owners of all blocks, and which blocks have none, in the order of their ids.
struct Counted {
    owners: Vec<u32>,
    free: BTreeSet<u32>,
}

pub fn allocator(count: usize) -> Box<dyn Allocator> {
    Box::new(Counted { owners: vec![0; count], free: (0..count as u32).collect() })
}

impl Allocator for Counted {
    fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        if self.free.len() < count {
            return None;
        }
        let blocks: Vec<u32> = (0..count).filter_map(|_| self.free.pop_first()).collect();
        self.share(&blocks);
        Some(blocks)
    }

    fn share(&mut self, blocks: &[u32]) {
        blocks.iter().for_each(|&block| self.owners[block as usize] += 1);
    }

    fn release(&mut self, blocks: &[u32]) {
        for &block in blocks {
            self.owners[block as usize] -= 1;
            if self.owners[block as usize] == 0 {
                self.free.insert(block);
            }
        }
    }

    fn free_blocks(&self) -> usize {
        self.free.len()
    }

    fn owners(&self, block: u32) -> u32 {
        self.owners[block as usize]
    }
}

pub fn longest_prefix(
    cache: &HashMap<u64, CachedBlock>,
    prompt: &[u32],
    block_size: usize,
    hash: &Hash<'_>,
) -> Vec<u32> {
    let (mut parent, mut before) = (0, None);
    let found = |tokens: &[u32]| {
        parent = hash(parent, tokens);
        let found = cache.get(&parent)?;
        (found.tokens == tokens && found.parent == before).then(|| {
            before = Some(found.block);
            found.block
        })
    };
    // The last token is computed, whatever is cached.
    let most = prompt.len().saturating_sub(1) / block_size;
    prompt.chunks_exact(block_size).take(most).map_while(found).collect()
}
