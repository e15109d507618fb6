//! The memory of all KV caches of a model.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::tensor::{DType, Device};

use super::{KvCache, KvShape};
use crate::error::{Error, Result};
use crate::kernels::{BLOCK, Block, BlockLayout, KvFormat};
use crate::memory;

/// A budget of bytes for the KV caches of one model, and the blocks that they share.
///
/// Memory is allocated when positions are about to be written. Blocks that a cache gives back are
/// kept for the next one, until no cache has any. A clone is a handle to the same pool.
#[derive(Debug, Clone)]
pub struct KvPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    shape: KvShape,
    device: Device,
    dtype: DType,
    format: KvFormat,
    budget: usize,
    usage: Mutex<Usage>,
}

#[derive(Debug, Default)]
struct Usage {
    /// The bytes of all leases.
    bytes: usize,
    /// The most that `bytes` has been.
    peak: usize,
    /// Blocks that were given back. Their number and that of the blocks in use never exceed the
    /// peak together.
    spare: Vec<Block>,
}

/// A part of a pool's budget, given back on drop.
#[derive(Debug)]
pub(super) struct Lease {
    pool: KvPool,
    bytes: usize,
}

/// A block that is given back to its pool on drop.
#[derive(Debug)]
pub(crate) struct PooledBlock {
    block: Block,
    lease: Lease,
}

/// A block that several block tables may hold. Its reference count is that of the `Arc`.
pub(crate) type SharedBlock = Arc<PooledBlock>;

impl KvPool {
    /// An empty pool of up to `budget` bytes.
    pub fn new(shape: KvShape, device: &Device, dtype: DType, budget: usize) -> Self {
        Self::with_format(shape, device, dtype, KvFormat::of(dtype), budget)
    }

    /// As [`new`](Self::new), with keys and values stored as `format` on the CPU. On other devices
    /// they are tensors of `dtype`.
    pub(crate) fn with_format(
        shape: KvShape,
        device: &Device,
        dtype: DType,
        format: KvFormat,
        budget: usize,
    ) -> Self {
        let (device, usage) = (device.clone(), Mutex::default());
        Self(Arc::new(Shared { shape, device, dtype, format, budget, usage }))
    }

    /// The budget of a model that was given none: half of the memory that is left.
    pub(crate) fn default_budget() -> usize {
        memory::available()
            .map_or(usize::MAX, |bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX))
    }

    /// An empty cache for up to `capacity` tokens.
    ///
    /// # Errors
    /// On a device that allocates the whole capacity at once: too little memory, or a pool with
    /// less than that left.
    pub fn new_cache(&self, capacity: usize) -> Result<KvCache> {
        KvCache::new(self, capacity)
    }

    /// The most bytes that the caches may take together.
    pub fn budget(&self) -> usize {
        self.0.budget
    }

    /// The bytes that the caches take now.
    pub fn bytes(&self) -> usize {
        self.usage().bytes
    }

    /// The most bytes that the caches have taken at once.
    pub fn peak_bytes(&self) -> usize {
        self.usage().peak
    }

    /// The memory of a block of 32 positions, in bytes.
    pub fn block_bytes(&self) -> usize {
        self.layout().bytes()
    }

    /// The number of blocks that the budget allows.
    pub fn max_blocks(&self) -> usize {
        self.0.budget / self.block_bytes()
    }

    /// Reserves `bytes` of the budget.
    ///
    /// # Errors
    /// Fewer are left.
    pub(super) fn lease(&self, bytes: usize) -> Result<Lease> {
        self.charge(&mut self.usage(), bytes)?;
        Ok(Lease { pool: self.clone(), bytes })
    }

    /// Takes `count` blocks, or none of them. What they hold is undefined.
    ///
    /// # Errors
    /// Fewer are left in the budget, or in the memory of the machine.
    pub(super) fn take(&self, count: usize) -> Result<Vec<PooledBlock>> {
        let layout = self.layout();
        let mut usage = self.usage();
        let fresh = count.saturating_sub(usage.spare.len());
        let bytes = fresh as u128 * layout.bytes() as u128;
        if fresh > 0 && !memory::fits(bytes) {
            return Err(Error::CacheTooLarge { tokens: fresh * BLOCK, bytes });
        }
        self.charge(&mut usage, count.saturating_mul(layout.bytes()))?;
        let spare = usage.spare.len() - (count - fresh);
        let mut blocks = usage.spare.split_off(spare);
        drop(usage); // allocating may take its time
        blocks.extend((0..fresh).map(|_| Block::new(layout)));
        let lease = || Lease { pool: self.clone(), bytes: layout.bytes() };
        Ok(blocks.into_iter().map(|block| PooledBlock { block, lease: lease() }).collect())
    }

    fn charge(&self, usage: &mut Usage, bytes: usize) -> Result<()> {
        let budget = self.0.budget;
        match usage.bytes.checked_add(bytes) {
            Some(sum) if sum <= budget => {
                usage.bytes = sum;
                usage.peak = usage.peak.max(sum);
                Ok(())
            }
            _ => Err(Error::KvPoolFull { budget, in_use: usage.bytes, needed: bytes }),
        }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layout of each block.
    pub(super) fn layout(&self) -> BlockLayout {
        let KvShape { n_layers, n_kv_heads, head_dim } = self.0.shape;
        BlockLayout { n_layers, n_kv_heads, head_dim, format: self.0.format }
    }

    pub(super) fn shape(&self) -> KvShape {
        self.0.shape
    }

    pub(super) fn device(&self) -> &Device {
        &self.0.device
    }

    /// How keys and values are stored.
    pub fn format(&self) -> KvFormat {
        self.0.format
    }

    pub(super) fn dtype(&self) -> DType {
        self.0.dtype
    }
}

impl Lease {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut usage = self.pool.usage();
        usage.bytes -= self.bytes;
        if usage.bytes == 0 {
            // Nobody generates: the memory may be of use to others.
            usage.spare = Vec::new();
        }
    }
}

impl Deref for PooledBlock {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.block
    }
}

impl DerefMut for PooledBlock {
    fn deref_mut(&mut self) -> &mut Block {
        &mut self.block
    }
}

impl Drop for PooledBlock {
    fn drop(&mut self) {
        let block = mem::replace(&mut self.block, Block::without_memory(self.lease.pool.layout()));
        self.lease.pool.usage().spare.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: KvShape = KvShape { n_layers: 2, n_kv_heads: 1, head_dim: 16 };

    #[test]
    fn a_pool_gives_all_or_nothing_and_takes_back() {
        let block = 2 * 2 * 16 * 32 * 4;
        let pool = KvPool::new(SHAPE, &Device::default(), DType::F32, 5 * block + 1);
        assert_eq!((pool.block_bytes(), pool.max_blocks()), (block, 5));
        let three = pool.take(3).unwrap();
        let error = pool.take(3).unwrap_err();
        let full =
            Error::KvPoolFull { budget: 5 * block + 1, in_use: 3 * block, needed: 3 * block };
        assert_eq!(error.to_string(), full.to_string());
        assert_eq!(pool.bytes(), 3 * block);
        let two = pool.take(2).unwrap();
        drop(three);
        assert_eq!((pool.bytes(), pool.usage().spare.len()), (2 * block, 3));
        let four = pool.take(3).unwrap();
        assert_eq!((pool.bytes(), pool.usage().spare.len()), (5 * block, 0));
        drop(four);
        assert_eq!(pool.usage().spare.len(), 3, "never more than were in use at once");
        drop(two);
        assert_eq!((pool.bytes(), pool.peak_bytes()), (0, 5 * block));
        assert_eq!(pool.usage().spare.len(), 0, "nobody needs them");
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_and_nothing_is_taken() {
        let shape = KvShape { n_layers: 1 << 30, ..SHAPE };
        let pool = KvPool::new(shape, &Device::default(), DType::F32, usize::MAX);
        let error = pool.take(1 << 15).unwrap_err();
        assert!(matches!(error, Error::CacheTooLarge { tokens: 0x10_0000, .. }), "{error}");
        assert_eq!(pool.bytes(), 0);
    }
}
