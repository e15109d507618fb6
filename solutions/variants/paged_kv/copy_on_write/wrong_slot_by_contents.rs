//! The first slot that looks empty is taken for the next one.

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
    let slot = table.length % BLOCK_SIZE;
    let last = table.blocks.last().copied().filter(|_| slot > 0);
    let block = match last {
        Some(block) if pool.owners[block] == 1 => block,
        shared_or_none => {
            let Some(new) = pool.owners.iter().position(|&owners| owners == 0) else {
                return false;
            };
            pool.owners[new] = 1;
            if let Some(shared) = shared_or_none {
                pool.slots[new] = pool.slots[shared];
                pool.owners[shared] -= 1;
                table.blocks.pop();
            }
            table.blocks.push(new);
            new
        }
    };
    let slot = pool.slots[block].iter().position(|&held| held == '.').unwrap_or(slot);
    pool.slots[block][slot] = token;
    table.length += 1;
    true
}
