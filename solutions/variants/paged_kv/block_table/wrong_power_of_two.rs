//! Shift and mask, as for a power of two.

#[derive(Debug, Clone)]
pub struct BlockTable {
    pub blocks: Vec<u32>,
    pub length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub block: u32,
    pub slot: usize,
}

pub fn look_up(table: &BlockTable, block_size: usize, positions: &[usize]) -> Vec<Option<Place>> {
    let place = |&position: &usize| {
        if position >= table.length {
            return None;
        }
        let shift = block_size.ilog2();
        let block = *table.blocks.get(position >> shift)?;
        Some(Place { block, slot: position & (block_size - 1) })
    };
    positions.iter().map(place).collect()
}
