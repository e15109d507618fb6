//! A block allocator: blocks that have one owner, or several, or none.

/// Hands out the blocks of a pool. Several sequences may use one block, so it is free only when the
/// last of them is gone. Each table that holds a block is an owner of it; a block without an owner
/// is free.
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

    /// Takes `count` free blocks, and gives each of them one owner. Which ones doesn't matter.
    ///
    /// All or none: if fewer are free, return `None` and change nothing. With a `count` of 0 it
    /// always succeeds.
    pub fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        todo!()
    }

    /// Each of `blocks` gets one more owner: another table holds them too. They all have an owner
    /// already.
    pub fn share(&mut self, blocks: &[u32]) {
        todo!()
    }

    /// Each of `blocks` loses an owner: a table that held them has ended. A block is free when its
    /// last owner leaves, and not before.
    ///
    /// They all have an owner before the call.
    pub fn release(&mut self, blocks: &[u32]) {
        todo!()
    }

    /// How many blocks are free.
    ///
    /// ```text
    /// new(3)                        3 free
    /// allocate(2)   ->  a, b        1 free
    /// share(a)                      1 free     a has two owners
    /// allocate(2)   ->  None        1 free
    /// release(a, b)                 2 free     a has one owner, b is free
    /// release(a)                    3 free
    /// ```
    pub fn free_blocks(&self) -> usize {
        todo!()
    }

    /// How many owners a block has.
    pub fn owners(&self, block: u32) -> u32 {
        todo!()
    }
}
