use your_engine::Parts;
use your_engine::parts::Allocator;

use super::block_allocator::BlockAllocator;

pub fn take_over(parts: &mut Parts) {
    parts.allocator = |count| Box::new(BlockAllocator::new(count));
}

impl Allocator for BlockAllocator {
    fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        BlockAllocator::allocate(self, count)
    }

    fn share(&mut self, blocks: &[u32]) {
        BlockAllocator::share(self, blocks);
    }

    fn release(&mut self, blocks: &[u32]) {
        BlockAllocator::release(self, blocks);
    }

    fn free_blocks(&self) -> usize {
        BlockAllocator::free_blocks(self)
    }

    fn owners(&self, block: u32) -> u32 {
        BlockAllocator::owners(self, block)
    }
}
