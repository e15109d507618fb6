//! Copy on write: two sequences that share blocks, until one of them writes.

/// Positions of a block.
pub const BLOCK_SIZE: usize = 4;

/// A pool of blocks. A token stands for the keys and values of its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// What the blocks hold; the index is the block's id. Places that are not written yet may hold
    /// anything.
    pub contents: Vec<[char; BLOCK_SIZE]>,
    /// How many tables hold each block. A block without an owner is free.
    pub owners: Vec<u32>,
}

/// The block table of a sequence. It has no more blocks than `length` takes: the last is written in
/// part, or full.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub blocks: Vec<usize>,
    /// How many positions are written.
    pub length: usize,
}

/// A second sequence that begins as the first does. No block is copied: each has one more owner.
pub fn fork(pool: &mut Pool, table: &Table) -> Table {
    for &block in &table.blocks {
        pool.owners[block] += 1;
    }
    table.clone()
}

/// Two sequences share blocks, and one of them wants to write. Append a token to one sequence, and
/// change no other.
///
/// - If the last block is full, or there is none, add a free block to the table. A full block is
///   never written again, so it stays as it is, and shared if it was.
/// - If the last block has room and no other owner, write the token there.
/// - If the last block has room and other owners, the table takes a free block in its place, with a
///   copy of what its sequence has written in the old one. The old one loses an owner.
/// - The catch: two sequences that share a block may have written different amounts of it, because
///   one may have been cut back. What the other has written stays as it is.
/// - Any free block will do. If you need one and none is free, return `false` and change nothing.
///
/// ```text
/// A  blocks 0 1, length 6      B = fork(A)
/// block 0  a b c d   2 owners
/// block 1  e f . .   2 owners
/// block 2  . . . .   free
///
/// append(B, 'x')
/// block 0  a b c d   2 owners      A  blocks 0 1, length 6
/// block 1  e f . .   1 owner       B  blocks 0 2, length 7
/// block 2  e f x .   1 owner
/// ```
pub fn append(pool: &mut Pool, table: &mut Table, token: char) -> bool {
    todo!()
}
