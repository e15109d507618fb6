//! A continuation that read a stranger's prompt keeps its own now.
//!
//! Why: `release` looked at the last block of the table, and took its answer for all of them. After
//! a fork and one more token, the last block is a copy that is not shared, but the blocks before it
//! are. So these went into the free list while the other sequence held them, and the next request
//! wrote its prompt into them. And when the other sequence ended, they went there a second time.
//! Each block has its owners, so you have to ask each one.
//!
//! What it costs: a comparison for each block of a sequence that has ended.
//!
//! A common wrong turn: turning the question round, and freeing nothing while any block is shared.
//! Then no text reads a stranger's prompt, but each fork that ends leaves its private blocks
//! behind: they have no owner, and are not free. The server refuses requests after a week instead
//! of mixing them up after a minute.

/// Positions of a block.
const BLOCK_SIZE: usize = 4;

/// The block table of a sequence.
#[derive(Debug)]
pub struct Table {
    blocks: Vec<usize>,
    length: usize,
}

/// A pool of blocks. A token stands for the keys and values of its position.
#[derive(Debug)]
pub struct Pool {
    contents: Vec<[u32; BLOCK_SIZE]>,
    /// How many tables hold each block.
    owners: Vec<usize>,
    free: Vec<usize>,
}

impl Pool {
    pub fn new(blocks: usize) -> Self {
        Self {
            contents: vec![[0; BLOCK_SIZE]; blocks],
            owners: vec![0; blocks],
            free: (0..blocks).rev().collect(),
        }
    }

    /// How many blocks are free.
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// A sequence without positions.
    pub fn start(&self) -> Table {
        Table { blocks: Vec::new(), length: 0 }
    }

    /// A sequence that begins as `table` does, and shares all its blocks.
    pub fn fork(&mut self, table: &Table) -> Table {
        for &block in &table.blocks {
            self.owners[block] += 1;
        }
        Table { blocks: table.blocks.clone(), length: table.length }
    }

    /// Appends a token. False if no block is free.
    pub fn append(&mut self, table: &mut Table, token: u32) -> bool {
        if !self.make_room(table) {
            return false;
        }
        if let Some(&block) = table.blocks.last() {
            self.contents[block][table.length % BLOCK_SIZE] = token;
            table.length += 1;
        }
        true
    }

    /// The tokens of a sequence.
    pub fn read(&self, table: &Table) -> Vec<u32> {
        let token = |p: usize| self.contents[table.blocks[p / BLOCK_SIZE]][p % BLOCK_SIZE];
        (0..table.length).map(token).collect()
    }

    /// A sequence has ended: a block is free unless another sequence holds it.
    pub fn release(&mut self, table: Table) {
        for block in table.blocks {
            self.owners[block] -= 1;
            if self.owners[block] == 0 {
                self.free.push(block);
            }
        }
    }

    /// Makes sure that the next position of `table` has a place that it may write. False if that
    /// takes a block and none is free.
    fn make_room(&mut self, table: &mut Table) -> bool {
        let is_full = table.length.is_multiple_of(BLOCK_SIZE);
        match table.blocks.last().copied() {
            Some(last) if !is_full && self.owners[last] == 1 => true,
            Some(shared) if !is_full => {
                let Some(copy) = self.take() else {
                    return false;
                };
                self.contents[copy] = self.contents[shared];
                self.owners[shared] -= 1;
                table.blocks.pop();
                table.blocks.push(copy);
                true
            }
            _ => {
                let Some(block) = self.take() else {
                    return false;
                };
                table.blocks.push(block);
                true
            }
        }
    }

    /// A free block, with one owner.
    fn take(&mut self) -> Option<usize> {
        let block = self.free.pop()?;
        self.owners[block] = 1;
        Some(block)
    }
}
