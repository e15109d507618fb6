//! A block with room is made first, in two cases, and then written.

pub const BLOCK_SIZE: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    pub slots: Vec<[char; BLOCK_SIZE]>,
    pub owners: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub blocks: Vec<usize>,
    pub length: usize,
}

pub fn fork(pool: &mut Pool, table: &Table) -> Table {
    for &block in &table.blocks {
        pool.owners[block] += 1;
    }
    table.clone()
}

pub fn append(pool: &mut Pool, table: &mut Table, token: char) -> bool {
    let used = table.length % BLOCK_SIZE;
    let free = pool.owners.iter().position(|&owners| owners == 0);
    if used == 0 {
        let Some(new) = free else { return false };
        pool.owners[new] += 1;
        table.blocks.push(new);
    } else if let Some(last) = table.blocks.last_mut()
        && pool.owners[*last] > 1
    {
        let Some(new) = free else { return false };
        for slot in 0..used {
            pool.slots[new][slot] = pool.slots[*last][slot];
        }
        pool.owners[*last] -= 1;
        pool.owners[new] += 1;
        *last = new;
    }
    let last = table.blocks[table.blocks.len() - 1];
    pool.slots[last][used] = token;
    table.length += 1;
    true
}
