//! The counts alone: a free block is one with 0.

#[derive(Debug, Clone)]
pub struct BlockAllocator {
    owners: Vec<u32>,
}

impl BlockAllocator {
    pub fn new(count: usize) -> Self {
        Self { owners: vec![0; count] }
    }

    pub fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        if count > self.free_blocks() {
            return None;
        }
        let mut blocks = Vec::new();
        for (block, owners) in self.owners.iter_mut().enumerate() {
            if *owners == 0 && blocks.len() < count {
                *owners = 1;
                blocks.push(block as u32);
            }
        }
        Some(blocks)
    }

    pub fn share(&mut self, blocks: &[u32]) {
        blocks.iter().for_each(|&block| self.owners[block as usize] += 1);
    }

    pub fn release(&mut self, blocks: &[u32]) {
        blocks.iter().for_each(|&block| self.owners[block as usize] -= 1);
    }

    pub fn free_blocks(&self) -> usize {
        self.owners.iter().filter(|&&owners| owners == 0).count()
    }

    pub fn owners(&self, block: u32) -> u32 {
        self.owners[block as usize]
    }
}
