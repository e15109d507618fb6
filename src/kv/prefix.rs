//! The prefix cache: full blocks, found again by the tokens that lead to them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;
use std::sync::Arc;

use super::block::{Block, BlockId, Memory};
use super::pool::Claim;

/// The end of a chain of full blocks: the hash of all its tokens, and the identity of its last
/// block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) hash: u64,
    /// A number that no other content of any block has had.
    serial: u64,
}

/// The chain without blocks.
#[cfg(test)]
pub(super) const ROOT: Link = Link { hash: 0, serial: 0 };

impl Link {
    /// The chain without blocks of sequences whose keys and values depend on this number too, and not on their
    /// tokens alone. Nothing is found after another root.
    pub(super) fn root(salt: u64) -> Self {
        Self { hash: salt, serial: 0 }
    }
}

/// What the prefix cache has done so far. Each number only grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefixStats {
    /// Full blocks that were looked up.
    pub lookups: u64,
    /// Blocks that were not computed again: those that were found, and those behind the window of the
    /// last of them, which need not be there.
    pub hits: u64,
    /// Blocks without an owner whose memory was taken for something else.
    pub evictions: u64,
}

impl Add for PrefixStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            lookups: self.lookups + other.lookups,
            hits: self.hits + other.hits,
            evictions: self.evictions + other.evictions,
        }
    }
}

impl PrefixStats {
    /// The keys and values that were not computed again, in blocks of this many bytes.
    pub fn saved_bytes(&self, block_bytes: usize) -> usize {
        usize::try_from(self.hits).unwrap_or(usize::MAX).saturating_mul(block_bytes)
    }
}

/// The full blocks that can be shared.
#[derive(Debug, Default)]
pub(super) struct PrefixCache<M: Memory> {
    /// By their chained hashes.
    entries: HashMap<u64, Entry<M>>,
    /// The chained hash of each block.
    hashes: HashMap<BlockId, u64>,
    /// The blocks that no table holds, by the time of their last use.
    evictable: BTreeMap<u64, BlockId>,
    /// The entries with a snapshot, by the time of its last use.
    snapshots: BTreeMap<u64, u64>,
    /// The memory of all snapshots, in blocks.
    snapshot_blocks: usize,
    /// Counts the releases of blocks and the uses of snapshots: the time of the least-recently-used order.
    releases: u64,
    last_serial: u64,
    pub(super) stats: PrefixStats,
}

/// A full block, or what is left of one that was evicted before others that follow it in their chain:
/// without its tokens these could not be found, and behind a window nobody reads its memory.
#[derive(Debug)]
struct Entry<M: Memory> {
    block: Option<Arc<Block<M>>>,
    link: Link,
    parent: Link,
    tokens: Box<[u32]>,
    /// How many entries follow this one.
    children: usize,
    /// Since when no table has held it, if none does.
    evictable_since: Option<u64>,
    snapshot: Option<Snapshot<M>>,
}

/// The states after the last position of a block, where layers have states: without them nothing can go on from
/// there.
#[derive(Debug)]
struct Snapshot<M: Memory> {
    states: M::States,
    claim: Claim<M>,
    last_use: u64,
}

// ANCHOR: chained_hash
/// The hash of a full block: of its tokens, and of all tokens before them by way of the hash of its
/// parent. Equal tokens after another prefix have other keys and values.
pub(super) fn chained_hash(parent: u64, tokens: &[u32]) -> u64 {
    let mut hasher = DefaultHasher::new(); // its keys are constant
    (parent, tokens).hash(&mut hasher);
    hasher.finish()
}
// ANCHOR_END: chained_hash

impl<M: Memory> PrefixCache<M> {
    // ANCHOR: find
    /// The chain with these tokens after `parent`, and whether its last block is still there.
    pub(super) fn find(&self, parent: Link, tokens: &[u32]) -> Option<(Link, bool)> {
        let entry = self.entries.get(&chained_hash(parent.hash, tokens))?;
        // A hash alone proves nothing: two chains may have the same.
        let is_hit = entry.parent == parent && *entry.tokens == *tokens;
        is_hit.then_some((entry.link, entry.block.is_some()))
    }
    // ANCHOR_END: find

    /// The last block of a chain, for another owner.
    pub(super) fn take(&mut self, link: Link) -> Option<Arc<Block<M>>> {
        let entry = self.entry_mut(link)?;
        let (block, since) = (entry.block.clone(), entry.evictable_since.take());
        if let Some(since) = since {
            self.evictable.remove(&since);
        }
        block
    }

    fn entry_mut(&mut self, link: Link) -> Option<&mut Entry<M>> {
        self.entries.get_mut(&link.hash).filter(|entry| entry.link == link)
    }

    /// Registers a full block. If one with the same chain is registered already, that one stays and
    /// its link is returned.
    pub(super) fn register(&mut self, parent: Link, tokens: &[u32], block: &Arc<Block<M>>) -> Link {
        let hash = chained_hash(parent.hash, tokens);
        self.last_serial += 1;
        let link = Link { hash, serial: self.last_serial };
        if let Some(entry) = self.entries.get_mut(&hash) {
            if entry.parent != parent || *entry.tokens != *tokens {
                return link;
            }
            if entry.block.is_none() {
                entry.block = Some(Arc::clone(block));
                self.hashes.insert(block.id(), hash);
            }
            return entry.link;
        }
        if let Some(parent) = self.entry_mut(parent) {
            parent.children += 1;
        }
        self.hashes.insert(block.id(), hash);
        let entry = Entry {
            block: Some(Arc::clone(block)),
            link,
            parent,
            tokens: tokens.into(),
            children: 0,
            evictable_since: None,
            snapshot: None,
        };
        self.entries.insert(hash, entry);
        link
    }

    /// Whether this block can be found.
    pub(super) fn contains(&self, block: BlockId) -> bool {
        self.hashes.contains_key(&block)
    }

    /// Notes that no table holds a block any more. False where it is not registered, so that it
    /// cannot be found again.
    pub(super) fn set_evictable(&mut self, block: BlockId) -> bool {
        let hash = self.hashes.get(&block);
        let Some(entry) = hash.and_then(|hash| self.entries.get_mut(hash)) else {
            return false;
        };
        self.releases += 1;
        entry.evictable_since = Some(self.releases);
        self.evictable.insert(self.releases, block);
        true
    }

    /// Gives up the block that has been evictable for longest, or a snapshot that was not used since before
    /// that. Returns how many blocks that were: 0 where there is none.
    pub(super) fn evict(&mut self) -> usize {
        let first = self.evictable.first_key_value().map(|(time, _)| *time);
        if let Some((time, &hash)) = self.snapshots.first_key_value()
            && first.is_none_or(|first| *time < first)
        {
            return self.drop_snapshot(hash);
        }
        let Some((_, block)) = self.evictable.pop_first() else {
            return 0;
        };
        let mut freed = 1;
        if let Some(hash) = self.hashes.get(&block) {
            freed += self.drop_snapshot(*hash);
        }
        if let Some(hash) = self.hashes.remove(&block)
            && let Some(entry) = self.entries.get_mut(&hash)
        {
            // The last reference to the block, whose memory returns to the pool.
            (entry.block, entry.evictable_since) = (None, None);
            self.prune(hash);
        }
        self.stats.evictions += 1;
        freed
    }

    /// Keeps a copy of the states after a chain. Returns the claim if there is one already, or no such chain.
    pub(super) fn keep_snapshot(
        &mut self,
        link: Link,
        states: M::States,
        claim: Claim<M>,
    ) -> Option<Claim<M>> {
        self.releases += 1;
        let last_use = self.releases;
        let Some(entry) = self.entry_mut(link).filter(|entry| entry.snapshot.is_none()) else {
            return Some(claim);
        };
        let blocks = claim.blocks();
        entry.snapshot = Some(Snapshot { states, claim, last_use });
        self.snapshot_blocks += blocks;
        self.snapshots.insert(last_use, link.hash);
        None
    }

    /// Whether the states after a chain are known.
    pub(super) fn has_snapshot(&self, link: Link) -> bool {
        let entry = self.entries.get(&link.hash).filter(|entry| entry.link == link);
        entry.is_some_and(|entry| entry.snapshot.is_some())
    }

    /// The states after a chain.
    pub(super) fn snapshot(&mut self, link: Link) -> Option<M::States> {
        self.releases += 1;
        let now = self.releases;
        let snapshot = self.entry_mut(link)?.snapshot.as_mut()?;
        let before = std::mem::replace(&mut snapshot.last_use, now);
        let states = snapshot.states.clone();
        self.snapshots.remove(&before);
        self.snapshots.insert(now, link.hash);
        Some(states)
    }

    /// Forgets the states after a chain. Returns how many blocks that were.
    pub(super) fn forget_snapshot(&mut self, link: Link) -> usize {
        if self.has_snapshot(link) {
            self.drop_snapshot(link.hash)
        } else {
            0
        }
    }

    fn drop_snapshot(&mut self, hash: u64) -> usize {
        let entry = self.entries.get_mut(&hash);
        let Some(Snapshot { claim, last_use, .. }) = entry.and_then(|entry| entry.snapshot.take())
        else {
            return 0;
        };
        self.snapshots.remove(&last_use);
        self.snapshot_blocks -= claim.blocks();
        claim.blocks()
    }

    /// Forgets an entry that has no block and that none follows, and then those before it that are such
    /// now.
    fn prune(&mut self, mut hash: u64) {
        let is_left = |entry: &&Entry<M>| entry.block.is_none() && entry.children == 0;
        while let Some(parent) = self.entries.get(&hash).filter(is_left).map(|entry| entry.parent) {
            self.entries.remove(&hash);
            if let Some(parent) = self.entry_mut(parent) {
                parent.children -= 1;
            }
            hash = parent.hash;
        }
    }

    /// Forgets all blocks.
    pub(super) fn clear(&mut self) {
        *self = Self { stats: self.stats, ..Self::default() };
    }

    /// The number of blocks that no table holds, and those of all snapshots.
    pub(super) fn evictable(&self) -> usize {
        self.evictable.len() + self.snapshot_blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Pool;

    fn blocks(count: usize) -> Vec<Arc<Block>> {
        Pool::of_blocks(count).take_blocks(count).unwrap().into_iter().map(Arc::new).collect()
    }

    /// The block that is found, and its link.
    fn find(cache: &PrefixCache<()>, parent: Link, tokens: &[u32]) -> Option<(BlockId, Link)> {
        let (link, _) = cache.find(parent, tokens)?;
        Some((cache.entries[&link.hash].block.as_ref()?.id(), link))
    }

    #[test]
    fn a_block_is_found_only_after_its_own_parent() {
        let (blocks, mut cache) = (blocks(2), PrefixCache::default());
        let a = cache.register(ROOT, &[1, 2], &blocks[0]);
        let b = cache.register(a, &[3, 4], &blocks[1]);
        assert_eq!(find(&cache, ROOT, &[1, 2]), Some((blocks[0].id(), a)));
        assert_eq!(find(&cache, a, &[3, 4]), Some((blocks[1].id(), b)));
        assert_eq!(find(&cache, ROOT, &[3, 4]), None);
        assert_eq!(find(&cache, a, &[3, 5]), None);
    }

    #[test]
    fn an_equal_hash_is_no_hit() {
        let (blocks, mut cache) = (blocks(3), PrefixCache::default());
        let link = cache.register(ROOT, &[1, 2], &blocks[0]);
        // As if these tokens had the hash of those.
        let hash = chained_hash(ROOT.hash, &[7, 8]);
        let entry = cache.entries.remove(&link.hash).unwrap();
        cache.entries.insert(hash, entry);
        assert_eq!(find(&cache, ROOT, &[7, 8]), None);
        // The newcomer is not registered, and has a chain of its own.
        let other = cache.register(ROOT, &[7, 8], &blocks[1]);
        assert!(!cache.contains(blocks[1].id()) && other != link && other.hash == hash);
        // A parent with an equal hash is another parent.
        let child = cache.register(link, &[9, 9], &blocks[2]);
        let twin = Link { hash: link.hash, serial: other.serial };
        assert_eq!(find(&cache, twin, &[9, 9]), None);
        assert_eq!(find(&cache, link, &[9, 9]), Some((blocks[2].id(), child)));
    }

    #[test]
    fn the_first_of_two_equal_blocks_stays() {
        let (blocks, mut cache) = (blocks(2), PrefixCache::default());
        let first = cache.register(ROOT, &[1, 2], &blocks[0]);
        assert_eq!(cache.register(ROOT, &[1, 2], &blocks[1]), first);
        assert!(cache.contains(blocks[0].id()) && !cache.contains(blocks[1].id()));
        assert!(!cache.set_evictable(blocks[1].id()));
    }

    #[test]
    fn the_block_that_was_evictable_for_longest_is_evicted_and_owned_ones_never() {
        let (blocks, mut cache) = (blocks(4), PrefixCache::default());
        let mut link = ROOT;
        for (token, block) in (0..).zip(&blocks) {
            link = cache.register(link, &[token], block);
        }
        for index in [2, 0, 1] {
            assert!(cache.set_evictable(blocks[index].id()));
        }
        let (first, _) = cache.find(ROOT, &[0]).unwrap();
        let block = cache.take(first).unwrap();
        assert_eq!((block.id(), cache.evictable()), (blocks[0].id(), 2));
        assert!(cache.set_evictable(block.id()));
        for evicted in [2, 1, 0] {
            assert!(cache.contains(blocks[evicted].id()) && cache.evict() == 1);
            assert!(!cache.contains(blocks[evicted].id()));
        }
        assert!(cache.evict() == 0 && cache.contains(blocks[3].id()));
        assert_eq!(cache.stats.evictions, 3);
    }
}
