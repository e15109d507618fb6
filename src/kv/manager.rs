//! The blocks of one scheduler: who gets one, and which can be found by their tokens.

use std::sync::Arc;

use super::block::{Block, BlockTable, Memory, SequenceStates};
use super::pool::{Claim, Demand, Pool};
use super::prefix::{Link, PrefixCache, PrefixStats, chained_hash};
use super::turn::Turn;
use crate::error::Result;

/// What a sequence has taken from the prefix cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    looked_up: usize,
    /// The number of blocks that need not be computed.
    pub(crate) found: usize,
    /// How many of them, from the first on, it did not take: they are behind the window.
    skipped: usize,
}

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

/// The blocks that the sequences of one scheduler hold, with their prefix cache.
#[derive(Debug)]
pub struct BlockManager<M: Memory = ()> {
    pool: Pool<M>,
    /// The positions of a block.
    block_size: usize,
    /// How many blocks may hold something.
    limit: usize,
    /// How many blocks hold something: those of tables, and those that only the prefix cache holds.
    held: usize,
    /// As `limit`, without what the prefix caches of others hold.
    idle_limit: usize,
    /// How many positions the network reads, up to the next one and with it. None: all of them.
    window: Option<usize>,
    prefixes: Option<PrefixCache<M>>,
}

impl<M: Memory> BlockManager<M> {
    /// Blocks of `block_size` positions from a pool, with a prefix cache or without.
    pub(crate) fn new(pool: Pool<M>, block_size: usize, prefix_cache: bool) -> Self {
        let limit = pool.max_blocks();
        let prefixes = prefix_cache.then(PrefixCache::default);
        Self {
            pool,
            block_size,
            limit,
            held: 0,
            idle_limit: limit,
            window: None,
            prefixes,
        }
    }

    /// From now on, queries attend to no more than `window` positions, up to their own and with it.
    pub(crate) fn set_window(&mut self, window: usize) {
        self.window = Some(window);
    }

    /// Where the blocks come from.
    pub fn pool(&self) -> &Pool<M> {
        &self.pool
    }

    /// The positions of a block.
    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// The number of all blocks.
    pub fn max_blocks(&self) -> usize {
        self.pool.max_blocks()
    }

    /// How many blocks may hold something: all of them, unless others need some.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Changes how many blocks may hold something: as many as hold something now, at least.
    pub(crate) fn set_limit(&mut self, blocks: usize) {
        self.limit = blocks.min(self.max_blocks()).max(self.held);
    }

    /// The number of blocks that can be had: those that are free, and those that only the prefix
    /// cache holds.
    pub fn available(&self) -> usize {
        self.limit - self.owned()
    }

    /// The number of blocks that can be had without any prefix cache that gives one up.
    pub(crate) fn idle(&self) -> usize {
        self.idle_limit.min(self.limit).saturating_sub(self.held)
    }

    /// How many blocks may hold something before the prefix caches of others give up any.
    pub(crate) fn idle_limit(&self) -> usize {
        self.idle_limit
    }

    /// Says how many blocks may hold something before the prefix caches of others give up any.
    pub(crate) fn set_idle_limit(&mut self, blocks: usize) {
        self.idle_limit = blocks;
    }

    /// The number of blocks that at least one table holds.
    pub fn owned(&self) -> usize {
        self.held - self.evictable()
    }

    /// The number of blocks that hold something.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The number of blocks that only the prefix cache holds.
    pub fn evictable(&self) -> usize {
        self.prefixes.as_ref().map_or(0, PrefixCache::evictable)
    }

    /// The number of blocks of each kind.
    pub fn counts(&self) -> BlockCounts {
        let (used, cached, total) = (self.owned(), self.evictable(), self.max_blocks());
        BlockCounts { used, cached, free: total - used - cached, total }
    }

    /// The reference count of a block, the number of tables that hold it: all references to it but that of the prefix cache.
    pub fn ref_count(&self, block: &Arc<Block<M>>) -> usize {
        let is_cached =
            self.prefixes.as_ref().is_some_and(|prefixes| prefixes.contains(block.id()));
        Arc::strong_count(block) - usize::from(is_cached)
    }

    /// What the prefix cache has done so far.
    pub fn prefix_stats(&self) -> PrefixStats {
        self.prefixes.as_ref().map_or_else(PrefixStats::default, |prefixes| prefixes.stats)
    }

    /// The number of blocks that `table` lacks to hold `length` positions, and its states.
    pub(crate) fn missing(&self, table: &BlockTable<M>, length: usize) -> usize {
        let states = if table.claim.is_some() {
            0
        } else {
            self.pool.state_blocks()
        };
        states + length.div_ceil(self.block_size).saturating_sub(table.end())
    }

    /// The most positions that `table` can hold with `blocks` more blocks.
    pub(crate) fn most_positions(&self, table: &BlockTable<M>, blocks: usize) -> usize {
        let states = self.missing(table, 0);
        (table.end() + blocks.saturating_sub(states)) * self.block_size
    }

    /// Gives `table` the blocks for `length` positions: all that are [missing](Self::missing), or
    /// none. No more may be missing than are [available](Self::available). Where too few are free,
    /// the prefix cache gives up those that were used longest ago.
    ///
    /// # Errors
    /// The memory that should be free is not there.
    pub(crate) fn reserve(
        &mut self,
        table: &mut BlockTable<M>,
        length: usize,
        turn: &Turn<'_, M>,
    ) -> Result<()> {
        let missing = self.missing(table, length);
        self.evict_to(self.limit.saturating_sub(missing));
        let written = table.length / self.block_size..length.div_ceil(self.block_size);
        table.reserve(written, self.pool.state_blocks(), |demand| turn.take(demand))?;
        self.held += missing;
        Ok(())
    }

    /// Gives up blocks that only the prefix cache holds, until no more than `held` hold something.
    pub(crate) fn evict_to(&mut self, held: usize) {
        while self.held > held {
            let freed = self.prefixes.as_mut().map_or(0, PrefixCache::evict);
            if freed == 0 {
                break;
            }
            self.held -= freed;
        }
    }

    /// Whether prefixes are found only where the states after them are known.
    fn needs_snapshots(&self) -> bool {
        self.prefixes.is_some() && self.pool.snapshot_blocks() > 0
    }

    /// How many of the next `new` of `length` tokens a table should read at once, so that the states at the end of a
    /// block can be kept: up to the last one that a prefix may end with.
    pub(crate) fn up_to_snapshot(&self, table: &BlockTable<M>, new: usize, length: usize) -> usize {
        let start = table.length;
        let last = (start + new).min(length.saturating_sub(1)) / self.block_size * self.block_size;
        if self.needs_snapshots() && last > start {
            last - start
        } else {
            new
        }
    }

    /// Reserves memory for a copy of the states of `table` after `length` positions, if a block ends there and
    /// there is some that no table needs. `decodes` says whether the last of them was sampled.
    pub(crate) fn reserve_snapshot(
        &mut self,
        table: &mut BlockTable<M>,
        length: usize,
        decodes: bool,
        turn: &Turn<'_, M>,
    ) {
        let claimed = self.pool.snapshot_blocks();
        let is_wanted = self.needs_snapshots() && length.is_multiple_of(self.block_size);
        if !is_wanted || table.snapshot.is_some() || claimed > self.available() {
            return;
        }
        self.evict_to(self.limit.saturating_sub(claimed));
        if let Ok(taken) = turn.take(Demand { blocks: 0, claimed }) {
            table.snapshot = taken.claim.map(|claim| (claim, decodes));
            self.held += claimed;
        }
    }

    /// Forgets what all blocks hold. The tables must be given up too.
    pub(crate) fn clear(&mut self) {
        self.held = 0;
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.clear();
        }
    }

    /// Appends blocks of the prefix cache, as long as they hold the next of `tokens`. The last token
    /// is always left to be computed: its logits are wanted.
    ///
    /// Only at the end of a full block: a block that is partly filled gets its own copy of the
    /// rest. Behind a window, blocks need not be there any more.
    pub(crate) fn extend(&mut self, table: &mut BlockTable<M>, tokens: &[u32]) -> Extension {
        let size = self.block_size;
        let mut extension = Extension::default();
        let Some(prefixes) = &self.prefixes else {
            return extension;
        };
        if !table.length.is_multiple_of(size) || table.end() != table.length / size {
            return extension;
        }
        // ANCHOR: extend
        let (mut chain, mut end) = (Vec::new(), table.length);
        while end + size < tokens.len() {
            extension.looked_up += 1;
            let parent = chain.last().map_or(table.last_link(), |(link, _)| *link);
            let Some(known) = prefixes.find(parent, &tokens[end..end + size]) else {
                break;
            };
            chain.push(known);
            end += size;
        }
        // Of what is known, blocks may have been evicted.
        let (skipped, found) = self.usable(table, &chain);
        let found = self.with_states(table, &chain[..found]);
        self.append(table, &chain[..found], skipped);
        // ANCHOR_END: extend
        Extension { found, skipped, ..extension }
    }

    /// How many blocks of a chain may follow those of `table`, where layers have states: up to the last after which
    /// they are known, which `table` gets.
    fn with_states(&mut self, table: &mut BlockTable<M>, chain: &[(Link, bool)]) -> usize {
        if !self.needs_snapshots() {
            return chain.len();
        }
        let Some(prefixes) = self.prefixes.as_mut().filter(|_| table.length == 0) else {
            return 0;
        };
        let known = chain.iter().rposition(|(link, _)| prefixes.has_snapshot(*link));
        let Some(states) = known.and_then(|last| prefixes.snapshot(chain[last].0)) else {
            return 0;
        };
        table.states = states;
        known.map_or(0, |last| last + 1)
    }

    /// How many blocks of a chain may follow those of `table`, and how many of them, from the first on, it
    /// does not need: the most such that each block is there that the position after them reads. `chain`
    /// says whether each of its blocks is.
    fn usable(&self, table: &BlockTable<M>, chain: &[(Link, bool)]) -> (usize, usize) {
        let (mut usable, mut complete_from) = ((0, 0), 0);
        for (end, (_, is_there)) in (1..).zip(chain) {
            if !is_there {
                complete_from = end;
            }
            let first_read = self.first_read(table.length + end * self.block_size);
            // The blocks of a table have no gap.
            let skipped = if table.blocks.is_empty() {
                first_read - table.first
            } else {
                0
            };
            if complete_from <= skipped {
                usable = (skipped, end);
            }
        }
        usable
    }

    /// Appends the blocks of `chain` to `table`, without the first `skipped`.
    fn append(&mut self, table: &mut BlockTable<M>, chain: &[(Link, bool)], skipped: usize) {
        let links = chain.iter().map(|(link, _)| *link);
        if let Some(prefixes) = &mut self.prefixes {
            table.blocks.extend(links.clone().skip(skipped).filter_map(|link| prefixes.take(link)));
        }
        table.links.extend(links);
        table.first += skipped;
        table.length += chain.len() * self.block_size;
    }

    // ANCHOR: first_read
    /// The first block that the position after the first `length` ones reads.
    fn first_read(&self, length: usize) -> usize {
        self.window.map_or(0, |window| (length + 1).saturating_sub(window) / self.block_size)
    }
    // ANCHOR_END: first_read

    /// Counts an extension that is kept.
    pub(crate) fn count(&mut self, extension: Extension) {
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.stats.lookups += extension.looked_up as u64;
            prefixes.stats.hits += extension.found as u64;
        }
    }

    /// Gives back the blocks of the last extension.
    pub(crate) fn undo(&mut self, table: &mut BlockTable<M>, extension: Extension) {
        let Extension { found, skipped, .. } = extension;
        let kept = table.blocks.len() - (found - skipped);
        for block in table.blocks.split_off(kept).into_iter().rev() {
            self.give_back(block);
        }
        table.links.truncate(table.links.len() - found);
        table.first -= skipped;
        table.length -= found * self.block_size;
        if table.length == 0 {
            table.states = M::States::default();
        }
    }

    /// The chained hashes of the full blocks of `tokens` after those of `table`; none without a
    /// prefix cache, where no block can be shared.
    pub(crate) fn next_hashes(
        &self,
        table: &BlockTable<M>,
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
    pub(crate) fn commit(&mut self, table: &mut BlockTable<M>, tokens: &[u32]) {
        table.length = tokens.len();
        let Some(prefixes) = &mut self.prefixes else {
            return;
        };
        let full = tokens.chunks_exact(self.block_size).enumerate().skip(table.links.len());
        for (index, tokens) in full {
            let link =
                prefixes.register(table.last_link(), tokens, &table.blocks[index - table.first]);
            table.links.push(link);
        }
        self.keep_snapshot(table);
    }
    // ANCHOR_END: commit

    /// Keeps a copy of the states at the end of a block, where memory was reserved for one. Of what a sequence
    /// generates, only the last copy is of use: whoever goes on from there has read all of it.
    fn keep_snapshot(&mut self, table: &mut BlockTable<M>) {
        let (Some((claim, decodes)), Some(prefixes)) = (table.snapshot.take(), &mut self.prefixes)
        else {
            return;
        };
        let blocks = claim.blocks();
        let is_known = table.states.are_after(table.length)
            && table.links.len() * self.block_size == table.length;
        let link = table.last_link();
        let is_kept =
            is_known && prefixes.keep_snapshot(link, table.states.snapshot(), claim).is_none();
        if !is_kept {
            self.held -= blocks;
        } else if decodes && let Some(before) = table.last_snapshot.replace(link) {
            self.held -= prefixes.forget_snapshot(before);
        }
    }

    /// Takes all blocks from `table`. The memory of one that has no owner left returns to the pool,
    /// or stays in the prefix cache until it is needed.
    pub(crate) fn release(&mut self, table: &mut BlockTable<M>) {
        let snapshot = table.snapshot.as_ref().map(|(claim, _)| claim);
        let claims = table.claim.iter().chain(snapshot);
        self.held -= claims.map(Claim::blocks).sum::<usize>();
        let empty = BlockTable { root: table.root, ..BlockTable::default() };
        let BlockTable { blocks, .. } = std::mem::replace(table, empty);
        // From the end, so that the end of a prefix is evicted before its beginning: without the
        // beginning, the end cannot be found.
        for block in blocks.into_iter().rev() {
            self.give_back(block);
        }
    }

    // ANCHOR: slide
    /// Gives back the blocks that are behind the window of the next position: no query of the sequence
    /// reads them again. Those that are full stay in the prefix cache until their memory is needed.
    pub(crate) fn slide(&mut self, table: &mut BlockTable<M>) {
        let behind = self.first_read(table.length);
        let count = behind.saturating_sub(table.first).min(table.blocks.len());
        for block in table.blocks.drain(..count).collect::<Vec<_>>() {
            self.give_back(block);
        }
        table.first += count;
    }
    // ANCHOR_END: slide

    /// Gives back the blocks behind the positions that count.
    pub(crate) fn truncate(&mut self, table: &mut BlockTable<M>) {
        let kept = table.length.div_ceil(self.block_size) - table.first;
        for block in table.blocks.drain(kept..).collect::<Vec<_>>().into_iter().rev() {
            self.give_back(block);
        }
    }

    fn give_back(&mut self, block: Arc<Block<M>>) {
        if self.ref_count(&block) > 1 {
            return; // another table holds it
        }
        let stays =
            self.prefixes.as_mut().is_some_and(|prefixes| prefixes.set_evictable(block.id()));
        if !stays {
            self.held -= 1;
        }
    }
}
