//! A block is free when one owner is left.

const BLOCK_SIZE: usize = 4;

#[derive(Debug)]
pub struct Table {
    blocks: Vec<usize>,
    length: usize,
}

#[derive(Debug)]
pub struct Pool {
    slots: Vec<[u32; BLOCK_SIZE]>,
    owners: Vec<usize>,
    free: Vec<usize>,
}

impl Pool {
    pub fn new(blocks: usize) -> Self {
        Self {
            slots: vec![[0; BLOCK_SIZE]; blocks],
            owners: vec![0; blocks],
            free: (0..blocks).rev().collect(),
        }
    }

    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    pub fn start(&self) -> Table {
        Table { blocks: Vec::new(), length: 0 }
    }

    pub fn fork(&mut self, table: &Table) -> Table {
        for &block in &table.blocks {
            self.owners[block] += 1;
        }
        Table { blocks: table.blocks.clone(), length: table.length }
    }

    pub fn append(&mut self, table: &mut Table, token: u32) -> bool {
        if !self.make_room(table) {
            return false;
        }
        if let Some(&block) = table.blocks.last() {
            self.slots[block][table.length % BLOCK_SIZE] = token;
            table.length += 1;
        }
        true
    }

    pub fn read(&self, table: &Table) -> Vec<u32> {
        let token = |p: usize| self.slots[table.blocks[p / BLOCK_SIZE]][p % BLOCK_SIZE];
        (0..table.length).map(token).collect()
    }

    pub fn release(&mut self, table: Table) {
        for block in table.blocks {
            self.owners[block] -= 1;
            if self.owners[block] <= 1 {
                self.free.push(block);
            }
        }
    }

    fn make_room(&mut self, table: &mut Table) -> bool {
        let is_full = table.length.is_multiple_of(BLOCK_SIZE);
        match table.blocks.last().copied() {
            Some(last) if !is_full && self.owners[last] == 1 => true,
            Some(shared) if !is_full => {
                let Some(copy) = self.take() else {
                    return false;
                };
                self.slots[copy] = self.slots[shared];
                self.owners[shared] -= 1;
                table.blocks.pop();
                table.blocks.push(copy);
                true
            }
            _ => {
                let Some(block) = self.take() else {
                    return false;
                };
                table.blocks.push(block);
                true
            }
        }
    }

    fn take(&mut self) -> Option<usize> {
        let block = self.free.pop()?;
        self.owners[block] = 1;
        Some(block)
    }
}
