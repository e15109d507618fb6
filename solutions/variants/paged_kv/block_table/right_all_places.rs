//! All written places in order, and then looked up.

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
    let in_block = |(index, &block): (usize, &u32)| {
        let slots = table.length.saturating_sub(index * block_size).min(block_size);
        (0..slots).map(move |slot| Place { block, slot })
    };
    let places: Vec<Place> = table.blocks.iter().enumerate().flat_map(in_block).collect();
    positions.iter().map(|&position| places.get(position).copied()).collect()
}
