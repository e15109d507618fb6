//! The prefix cache: full blocks, found again by the tokens that lead to them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Add;

use super::BlockId;

/// The end of a chain of full blocks: the hash of all its tokens, and the identity of its last
/// block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) hash: u64,
    /// A number that no other content of any block has had.
    serial: u64,
}

/// The chain without blocks.
pub(super) const ROOT: Link = Link { hash: 0, serial: 0 };

/// What the prefix cache has done so far. Each number only grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefixStats {
    /// Full blocks that were looked up.
    pub lookups: u64,
    /// Blocks that were found, and so not computed again.
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
    /// The keys and values that were found and not computed, in blocks of this many bytes.
    pub fn saved_bytes(&self, block_bytes: usize) -> usize {
        usize::try_from(self.hits).unwrap_or(usize::MAX).saturating_mul(block_bytes)
    }
}

/// The full blocks that can be shared.
#[derive(Debug, Default)]
pub(super) struct PrefixCache {
    by_hash: HashMap<u64, BlockId>,
    entries: HashMap<BlockId, Entry>,
    /// The blocks without an owner, by the time of their last use.
    idle: BTreeMap<u64, BlockId>,
    /// Counts the releases of blocks: the time of the least-recently-used order.
    releases: u64,
    last_serial: u64,
    pub(super) stats: PrefixStats,
}

/// A full block.
#[derive(Debug)]
struct Entry {
    link: Link,
    parent: Link,
    tokens: Box<[u32]>,
    /// Since when it has been idle, if it is.
    idle_since: Option<u64>,
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

impl PrefixCache {
    // ANCHOR: find
    /// The block with these tokens after `parent`.
    pub(super) fn find(&self, parent: Link, tokens: &[u32]) -> Option<(BlockId, Link)> {
        let block = *self.by_hash.get(&chained_hash(parent.hash, tokens))?;
        let entry = &self.entries[&block];
        // A hash alone proves nothing: two chains may have the same.
        let is_hit = entry.parent == parent && *entry.tokens == *tokens;
        is_hit.then_some((block, entry.link))
    }
    // ANCHOR_END: find

    /// Registers a full block. If one with the same chain is registered already, that one stays and
    /// its link is returned.
    pub(super) fn register(&mut self, parent: Link, tokens: &[u32], block: BlockId) -> Link {
        let hash = chained_hash(parent.hash, tokens);
        self.last_serial += 1;
        let link = Link { hash, serial: self.last_serial };
        if let Some(found) = self.by_hash.get(&hash) {
            let entry = &self.entries[found];
            let is_same = entry.parent == parent && *entry.tokens == *tokens;
            return if is_same { entry.link } else { link };
        }
        self.by_hash.insert(hash, block);
        let tokens = tokens.into();
        self.entries.insert(block, Entry { link, parent, tokens, idle_since: None });
        link
    }

    /// Whether this block can be found.
    pub(super) fn contains(&self, block: BlockId) -> bool {
        self.entries.contains_key(&block)
    }

    /// Notes that a registered block has its first owner again.
    pub(super) fn set_owned(&mut self, block: BlockId) {
        if let Some(since) = self.entries.get_mut(&block).and_then(|entry| entry.idle_since.take())
        {
            self.idle.remove(&since);
        }
    }

    /// Notes that a block has no owner any more. False where it is not registered, so that nobody
    /// will find it again.
    pub(super) fn set_idle(&mut self, block: BlockId) -> bool {
        let Some(entry) = self.entries.get_mut(&block) else {
            return false;
        };
        self.releases += 1;
        entry.idle_since = Some(self.releases);
        self.idle.insert(self.releases, block);
        true
    }

    // ANCHOR: evict
    /// Forgets the block that has been idle for longest.
    pub(super) fn evict(&mut self) -> Option<BlockId> {
        let (_, block) = self.idle.pop_first()?;
        if let Some(entry) = self.entries.remove(&block) {
            self.by_hash.remove(&entry.link.hash);
        }
        self.stats.evictions += 1;
        Some(block)
    }
    // ANCHOR_END: evict

    /// Forgets all blocks.
    pub(super) fn clear(&mut self) {
        *self = Self { stats: self.stats, ..Self::default() };
    }

    /// The number of blocks without an owner.
    pub(super) fn idle(&self) -> usize {
        self.idle.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(id: u32) -> BlockId {
        BlockId(id)
    }

    #[test]
    fn a_block_is_found_only_after_its_own_parent() {
        let mut cache = PrefixCache::default();
        let a = cache.register(ROOT, &[1, 2], block(0));
        let b = cache.register(a, &[3, 4], block(1));
        assert_eq!(cache.find(ROOT, &[1, 2]), Some((block(0), a)));
        assert_eq!(cache.find(a, &[3, 4]), Some((block(1), b)));
        assert_eq!(cache.find(ROOT, &[3, 4]), None);
        assert_eq!(cache.find(a, &[3, 5]), None);
    }

    #[test]
    fn an_equal_hash_is_no_hit() {
        let mut cache = PrefixCache::default();
        let link = cache.register(ROOT, &[1, 2], block(0));
        // As if these tokens had the hash of those.
        let hash = chained_hash(ROOT.hash, &[7, 8]);
        cache.by_hash.insert(hash, block(0));
        assert_eq!(cache.find(ROOT, &[7, 8]), None);
        // The newcomer is not registered, and has a chain of its own.
        let other = cache.register(ROOT, &[7, 8], block(1));
        assert!(!cache.contains(block(1)) && other != link && other.hash == hash);
        // A parent with an equal hash is another parent.
        let child = cache.register(link, &[9, 9], block(2));
        let twin = Link { hash: link.hash, serial: other.serial };
        assert_eq!(cache.find(twin, &[9, 9]), None);
        assert_eq!(cache.find(link, &[9, 9]), Some((block(2), child)));
    }

    #[test]
    fn the_first_of_two_equal_blocks_stays() {
        let mut cache = PrefixCache::default();
        let first = cache.register(ROOT, &[1, 2], block(0));
        assert_eq!(cache.register(ROOT, &[1, 2], block(1)), first);
        assert!(cache.contains(block(0)) && !cache.contains(block(1)));
        assert!(!cache.set_idle(block(1)));
    }

    #[test]
    fn the_block_that_was_idle_for_longest_is_evicted_and_owned_ones_never() {
        let mut cache = PrefixCache::default();
        let mut link = ROOT;
        for id in 0..4 {
            link = cache.register(link, &[id], block(id));
        }
        for id in [2, 0, 1] {
            assert!(cache.set_idle(block(id)));
        }
        cache.set_owned(block(0));
        assert_eq!(cache.idle(), 2);
        assert!(cache.set_idle(block(0)));
        let evicted: Vec<_> = std::iter::from_fn(|| cache.evict()).collect();
        assert_eq!(evicted, [2, 1, 0].map(block));
        assert!(cache.contains(block(3)) && !cache.contains(block(2)));
        assert_eq!(cache.stats.evictions, 3);
    }
}
