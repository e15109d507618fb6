//! A bug hunt: a continuation that reads another request's prompt.

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

/// Sequences whose keys and values lie in blocks. Forks share them until one of them writes.
///
/// **What was observed.** Each request for two continuations reads its prompt once and is forked.
/// Both continuations are right, to their end. But when one of them ends before the other and a new
/// request comes, the remaining one goes on as if its prompt had been the new request's. It does
/// not happen if the one that ends has not written a token after the fork. And a server that ran
/// for a day reports more free blocks than it has.
///
/// Find the reason, and fix it: two or three lines will do. What should be:
///
/// ```text
/// 3 blocks      A reads 1 2 3 4 5        2 blocks, 1 free
/// B = fork(A)   B reads 6                its last block is a copy: 0 free
/// release(B)                             A still holds two blocks: 1 free
/// ```
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
        for &block in &table.blocks {
            self.owners[block] -= 1;
        }
        // Where another sequence still holds the blocks, they stay with it.
        let is_shared = table.blocks.last().is_some_and(|&block| self.owners[block] > 0);
        if !is_shared {
            self.free.extend(table.blocks);
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
