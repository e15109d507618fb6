//! A block allocator: blocks that have one owner, or several, or none.
//!
//! Why: a table does not know who else holds its blocks, so it can't free them by itself. A count
//! of owners knows: sharing adds one, leaving takes one, and the block is free exactly when the
//! count reaches 0. You compare the number of free blocks before you take the first. So a refusal
//! has nothing to give back, and two sequences that both need many blocks can't each hold half of
//! them and wait forever.
//!
//! What it costs: a number for each block. Thanks to the free list, allocation depends on the
//! blocks taken, not on all blocks of the pool.
//!
//! A common wrong turn: taking block after block and giving up when there is none. The blocks taken
//! so far have an owner that does not exist, and the pool is smaller from then on.

/// Gives out the blocks of a pool, each to one owner or to several.
#[derive(Debug, Clone)]
pub struct BlockAllocator {
    /// How many owners each block has. The index is the block's id.
    owners: Vec<u32>,
    /// The ids of the free blocks, in any order.
    free: Vec<u32>,
}

impl BlockAllocator {
    /// `count` blocks with the ids from 0 upwards, all free.
    pub fn new(count: usize) -> Self {
        Self { owners: vec![0; count], free: (0..count as u32).collect() }
    }

    /// Takes `count` free blocks, and gives each of them one owner; all or none.
    pub fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        let left = self.free.len().checked_sub(count)?;
        let blocks = self.free.split_off(left);
        for &block in &blocks {
            self.owners[block as usize] = 1;
        }
        Some(blocks)
    }

    /// Each of `blocks` gets one more owner.
    pub fn share(&mut self, blocks: &[u32]) {
        for &block in blocks {
            self.owners[block as usize] += 1;
        }
    }

    /// Each of `blocks` loses an owner. A block whose last owner leaves is free.
    pub fn release(&mut self, blocks: &[u32]) {
        for &block in blocks {
            let owners = &mut self.owners[block as usize];
            *owners -= 1;
            if *owners == 0 {
                self.free.push(block);
            }
        }
    }

    /// How many blocks are free.
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// How many owners a block has.
    pub fn owners(&self, block: u32) -> u32 {
        self.owners[block as usize]
    }
}
