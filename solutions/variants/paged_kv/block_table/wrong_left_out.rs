//! What is not written has no entry.

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
        let block = *table.blocks.get(position / block_size)?;
        Some(Place { block, slot: position % block_size })
    };
    positions.iter().map(place).filter(Option::is_some).collect()
}
