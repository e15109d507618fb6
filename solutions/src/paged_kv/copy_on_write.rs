//! Copy on write: two sequences that share blocks, until one of them writes.
//!
//! Why: a fork costs a count for each block, and the one copy that it will need is put off until
//! one of them writes. Of two sequences, the one that writes second finds itself alone and copies
//! nothing. Only the last block can be written, and only while it has room, so at most one block is
//! ever copied, however long the shared part is. You look for the free block before anything
//! changes, so a refusal leaves everything as it was.
//!
//! What it costs: a copy of at most a block, in all layers. A pool that holds keys and values
//! copies before the pass: if a step fails half way, no sequence has been changed.
//!
//! A common wrong turn: copying whatever is shared. A full block is not written again, and a copy
//! of it wastes exactly the memory that sharing was to save. Another: forgetting that the old block
//! has lost an owner. It is copied once more by the last one that holds it, and is never free
//! again.

/// Positions of a block.
pub const BLOCK_SIZE: usize = 4;

/// A pool of blocks. A token stands for the keys and values of its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// What the blocks hold; the index is the block's id.
    pub contents: Vec<[char; BLOCK_SIZE]>,
    /// How many tables hold each block. A block without an owner is free.
    pub owners: Vec<u32>,
}

/// The block table of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub blocks: Vec<usize>,
    /// How many positions are written.
    pub length: usize,
}

/// A second sequence that begins as the first does.
pub fn fork(pool: &mut Pool, table: &Table) -> Table {
    for &block in &table.blocks {
        pool.owners[block] += 1;
    }
    table.clone()
}

/// Appends a token to one sequence, and changes no other. `false` if no block is free.
pub fn append(pool: &mut Pool, table: &mut Table, token: char) -> bool {
    let offset = table.length % BLOCK_SIZE;
    let last = table.blocks.last().copied().filter(|_| offset > 0);
    let block = match last {
        Some(block) if pool.owners[block] == 1 => block,
        shared_or_none => {
            let Some(new) = pool.owners.iter().position(|&owners| owners == 0) else {
                return false;
            };
            pool.owners[new] = 1;
            if let Some(shared) = shared_or_none {
                pool.contents[new] = pool.contents[shared];
                pool.owners[shared] -= 1;
                table.blocks.pop();
            }
            table.blocks.push(new);
            new
        }
    };
    pool.contents[block][offset] = token;
    table.length += 1;
    true
}
