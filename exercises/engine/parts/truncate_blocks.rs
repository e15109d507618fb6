use your_engine::Parts;
use your_engine::parts::{self, HeldBlock};

use super::truncate_blocks::{Block, Pool, Table, truncate_blocks};

pub fn take_over(parts: &mut Parts) {
    parts.truncate_blocks = |held, table, length| {
        let block = |block: &HeldBlock| Block { owners: block.owners, filled: block.filled };
        let mut pool = Pool {
            block_size: held.block_size,
            blocks: held.blocks.iter().map(block).collect(),
        };
        let mut kept = Table { blocks: table.blocks.clone(), length: table.length };
        let freed = truncate_blocks(&mut pool, &mut kept, length);
        let held_block = |block: &Block| HeldBlock { owners: block.owners, filled: block.filled };
        held.blocks = pool.blocks.iter().map(held_block).collect();
        *table = parts::Table { blocks: kept.blocks, length: kept.length };
        freed
    };
}
