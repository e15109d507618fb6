//! A reserved block counts as written: the length is not asked.

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
        let block = *table.blocks.get(position / block_size)?;
        Some(Place { block, slot: position % block_size })
    };
    positions.iter().map(place).collect()
}
