//! The entry's index is taken for the block's id.

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
        let index = position / block_size;
        table.blocks.get(index)?;
        let block = index as u32;
        Some(Place { block, slot: position % block_size })
    };
    positions.iter().map(place).collect()
}
