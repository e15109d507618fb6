//! Who owns which block. Only ids here: the memory is elsewhere.

use std::fmt;

use super::prefix::{Link, PrefixCache, PrefixStats, ROOT, chained_hash};

/// Identifies a block of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(super) u32);

impl fmt::Display for BlockId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The blocks of one sequence, in order: position `p` is in block `p / block_size`.
#[derive(Debug, Default)]
pub struct BlockTable {
    blocks: Vec<BlockId>,
    /// The number of positions that were written.
    length: usize,
    /// One for each full block.
    links: Vec<Link>,
}

impl BlockTable {
    /// The ids of all blocks.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The number of positions that were written.
    pub fn length(&self) -> usize {
        self.length
    }

    fn last_link(&self) -> Link {
        self.links.last().copied().unwrap_or(ROOT)
    }
}

/// What a sequence has taken from the prefix cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    looked_up: usize,
    /// The number of blocks.
    pub(crate) found: usize,
}

/// Too few blocks are free. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// How many blocks there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// Those that at least one sequence holds.
    pub used: usize,
    /// Those that only the prefix cache holds. They are taken when no block is free.
    pub cached: usize,
    /// Those that hold nothing.
    pub free: usize,
    /// All of them.
    pub total: usize,
}

/// A fixed number of blocks: their owners, and which of them can be found by their tokens.
#[derive(Debug)]
pub struct BlockManager {
    /// The positions of a block.
    block_size: usize,
    max_blocks: usize,
    /// The number of tables that hold each block. Blocks from its length on were never used.
    owners: Vec<u32>,
    /// Blocks that were used, and hold nothing now.
    free: Vec<BlockId>,
    prefixes: Option<PrefixCache>,
}

impl BlockManager {
    /// `max_blocks` free blocks of `block_size` positions, with a prefix cache or without.
    pub fn new(block_size: usize, max_blocks: usize, prefix_cache: bool) -> Self {
        let max_blocks = max_blocks.min(u32::MAX as usize);
        let prefixes = prefix_cache.then(PrefixCache::default);
        Self {
            block_size,
            max_blocks,
            owners: Vec::new(),
            free: Vec::new(),
            prefixes,
        }
    }

    /// The positions of a block.
    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// The number of all blocks.
    pub fn max_blocks(&self) -> usize {
        self.max_blocks
    }

    /// The number of blocks that can be had: those that are free, and those that only the prefix
    /// cache holds.
    pub fn available(&self) -> usize {
        self.free.len() + (self.max_blocks - self.owners.len()) + self.idle()
    }

    /// The number of blocks that at least one table holds.
    pub fn owned(&self) -> usize {
        self.max_blocks - self.available()
    }

    /// The number of blocks that only the prefix cache holds.
    pub fn idle(&self) -> usize {
        self.prefixes.as_ref().map_or(0, PrefixCache::idle)
    }

    /// The number of blocks of each kind.
    pub fn counts(&self) -> BlockCounts {
        let (used, cached, total) = (self.owned(), self.idle(), self.max_blocks);
        BlockCounts { used, cached, free: total - used - cached, total }
    }

    /// The number of tables that hold a block.
    pub fn owners(&self, block: BlockId) -> usize {
        self.owners.get(block.0 as usize).map_or(0, |&owners| owners as usize)
    }

    /// What the prefix cache has done so far.
    pub fn prefix_stats(&self) -> PrefixStats {
        self.prefixes.as_ref().map_or_else(PrefixStats::default, |prefixes| prefixes.stats)
    }

    /// Whether the prefix cache would find this block.
    pub(crate) fn is_cached(&self, block: BlockId) -> bool {
        self.prefixes.as_ref().is_some_and(|prefixes| prefixes.contains(block))
    }

    /// The number of blocks that `table` lacks to hold `length` positions.
    pub(crate) fn missing(&self, table: &BlockTable, length: usize) -> usize {
        length.div_ceil(self.block_size).saturating_sub(table.blocks.len())
    }

    // ANCHOR: reserve
    /// Gives `table` the blocks for `new` more positions: all of them, or none. Blocks that the
    /// prefix cache had to give up are added to `evicted`.
    pub(crate) fn reserve(
        &mut self,
        table: &mut BlockTable,
        new: usize,
        evicted: &mut Vec<BlockId>,
    ) -> Result<(), Full> {
        let missing = self.missing(table, table.length + new);
        if missing > self.available() {
            return Err(Full);
        }
        for _ in 0..missing {
            let block = self.take(evicted).ok_or(Full)?;
            table.blocks.push(block);
        }
        Ok(())
    }

    fn take(&mut self, evicted: &mut Vec<BlockId>) -> Option<BlockId> {
        let block = if let Some(block) = self.free.pop() {
            block
        } else if self.owners.len() < self.max_blocks {
            self.owners.push(0);
            BlockId((self.owners.len() - 1) as u32)
        } else {
            let block = self.prefixes.as_mut()?.evict()?;
            evicted.push(block);
            block
        };
        self.owners[block.0 as usize] = 1;
        Some(block)
    }
    // ANCHOR_END: reserve

    /// Forgets what all blocks hold and who owns them. The tables must be given up too.
    pub(crate) fn clear(&mut self) {
        self.owners.clear();
        self.free.clear();
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.clear();
        }
    }

    // ANCHOR: extend
    /// Appends blocks of the prefix cache, as long as they hold the next of `tokens`. The last token
    /// is always left to be computed: its logits are wanted.
    ///
    /// Only at the end of a full block: a block that is partly filled gets its own copy of the
    /// rest.
    pub(crate) fn extend(&mut self, table: &mut BlockTable, tokens: &[u32]) -> Extension {
        let size = self.block_size;
        let mut extension = Extension::default();
        let Some(prefixes) = &mut self.prefixes else {
            return extension;
        };
        if !table.length.is_multiple_of(size) || table.blocks.len() != table.length / size {
            return extension;
        }
        while table.length + size < tokens.len() {
            extension.looked_up += 1;
            let next = &tokens[table.length..table.length + size];
            let Some((block, link)) = prefixes.find(table.last_link(), next) else {
                break;
            };
            prefixes.set_owned(block);
            self.owners[block.0 as usize] += 1;
            table.blocks.push(block);
            table.links.push(link);
            table.length += size;
            extension.found += 1;
        }
        extension
    }
    // ANCHOR_END: extend

    /// Counts an extension that is kept.
    pub(crate) fn count(&mut self, extension: Extension) {
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.stats.lookups += extension.looked_up as u64;
            prefixes.stats.hits += extension.found as u64;
        }
    }

    /// Gives back the blocks of the last extension.
    pub(crate) fn undo(&mut self, table: &mut BlockTable, extension: Extension) {
        let kept = table.blocks.len() - extension.found;
        for block in table.blocks.split_off(kept).into_iter().rev() {
            self.disown(block);
        }
        table.links.truncate(kept);
        table.length -= extension.found * self.block_size;
    }

    /// The chained hashes of the full blocks of `tokens` after those of `table`; none without a
    /// prefix cache, where no block can be shared.
    pub(crate) fn next_hashes(
        &self,
        table: &BlockTable,
        tokens: &[u32],
    ) -> impl Iterator<Item = u64> {
        let start = match self.prefixes {
            Some(_) => table.links.len() * self.block_size,
            None => tokens.len(),
        };
        let blocks = tokens.get(start..).unwrap_or_default().chunks_exact(self.block_size);
        blocks.scan(table.last_link().hash, |hash, tokens| {
            *hash = chained_hash(*hash, tokens);
            Some(*hash)
        })
    }

    // ANCHOR: commit
    /// Notes that all of `tokens` were written to `table`. Blocks that are full now can be found by
    /// their tokens.
    pub(crate) fn commit(&mut self, table: &mut BlockTable, tokens: &[u32]) {
        table.length = tokens.len();
        let Some(prefixes) = &mut self.prefixes else {
            return;
        };
        let full = tokens.chunks_exact(self.block_size).enumerate().skip(table.links.len());
        for (index, tokens) in full {
            let link = prefixes.register(table.last_link(), tokens, table.blocks[index]);
            table.links.push(link);
        }
    }
    // ANCHOR_END: commit

    // ANCHOR: release
    /// Takes all blocks from `table`. A block that has no owner left is free, or stays in the
    /// prefix cache until its memory is needed.
    pub(crate) fn release(&mut self, table: &mut BlockTable) {
        let BlockTable { blocks, .. } = std::mem::take(table);
        // From the end, so that the end of a prefix is evicted before its beginning: without the
        // beginning, the end cannot be found.
        for block in blocks.into_iter().rev() {
            self.disown(block);
        }
    }

    fn disown(&mut self, block: BlockId) {
        let owners = &mut self.owners[block.0 as usize];
        *owners -= 1;
        if *owners > 0 {
            return;
        }
        let stays = self.prefixes.as_mut().is_some_and(|prefixes| prefixes.set_idle(block));
        if !stays {
            self.free.push(block);
        }
    }
    // ANCHOR_END: release
}
