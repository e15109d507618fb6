//! To share sets the count to 2.

#[derive(Debug, Clone)]
pub struct BlockAllocator {
    owners: Vec<u32>,
    free: Vec<u32>,
}

impl BlockAllocator {
    pub fn new(count: usize) -> Self {
        Self { owners: vec![0; count], free: (0..count as u32).collect() }
    }

    pub fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        let left = self.free.len().checked_sub(count)?;
        let blocks = self.free.split_off(left);
        for &block in &blocks {
            self.owners[block as usize] = 1;
        }
        Some(blocks)
    }

    pub fn share(&mut self, blocks: &[u32]) {
        for &block in blocks {
            self.owners[block as usize] = 2;
        }
    }

    pub fn release(&mut self, blocks: &[u32]) {
        for &block in blocks {
            let owners = &mut self.owners[block as usize];
            *owners -= 1;
            if *owners == 0 {
                self.free.push(block);
            }
        }
    }

    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    pub fn owners(&self, block: u32) -> u32 {
        self.owners[block as usize]
    }
}
