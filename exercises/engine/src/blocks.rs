//! The pool of blocks: who holds them, and which of them hold a prefix that is there already.
//!
//! A part of yours gives the blocks out. What it says is held against a count of the engine's own: a
//! block with two texts in it would mix them up, long before anybody sees it.

use std::collections::HashMap;

use crate::broken::{call, fail};
use crate::parts::{Allocator, CachedBlock, Parts};

/// Positions of a block. The exercise of the scheduler has the same.
pub const BLOCK_SIZE: usize = 4;

const ALLOCATOR: &str = "block_allocator";

pub struct Blocks<'a> {
    parts: &'a Parts,
    allocator: Box<dyn Allocator>,
    /// How many hold each block: texts, and the prefix cache.
    owners: Vec<u32>,
    /// Full blocks by their chained hashes. The cache is an owner of each.
    cached: HashMap<u64, CachedBlock>,
    /// Their hashes. The first is evicted first.
    order: Vec<u64>,
    /// Which blocks they are.
    is_cached: Vec<bool>,
}

impl<'a> Blocks<'a> {
    /// So many blocks, all free.
    pub fn new(parts: &'a Parts, count: usize) -> Self {
        Self {
            parts,
            allocator: call(ALLOCATOR, || (parts.allocator)(count)),
            owners: vec![0; count],
            cached: HashMap::new(),
            order: Vec::new(),
            is_cached: vec![false; count],
        }
    }

    /// The blocks that can be had: those without an owner, and those that only the cache holds.
    pub fn available(&self) -> Vec<u32> {
        let free = (0..).zip(&self.owners).filter(|(_, owners)| **owners == 0);
        let idle = self.order.iter().map(|hash| self.cached[hash].block);
        free.map(|(block, _)| block).chain(idle.filter(|block| self.texts(*block) == 0)).collect()
    }

    /// How many texts hold a block.
    pub fn texts(&self, block: u32) -> usize {
        let block = block as usize;
        self.owners[block] as usize - usize::from(self.is_cached[block])
    }

    /// Takes blocks for a text. If too few are free, the cache gives up some of its blocks.
    pub fn allocate(&mut self, count: usize) -> Option<Vec<u32>> {
        while self.free() < count
            && let Some(place) =
                self.order.iter().position(|hash| self.texts(self.cached[hash].block) == 0)
        {
            let hash = self.order.remove(place);
            let evicted = self.cached.remove(&hash)?.block;
            self.is_cached[evicted as usize] = false;
            self.release(&[evicted]);
        }
        let free = self.free();
        let Some(blocks) = call(ALLOCATOR, || self.allocator.allocate(count)) else {
            if free >= count {
                fail(ALLOCATOR, format!("gives no {count} blocks, though {free} are free"));
            }
            return None;
        };
        if blocks.len() != count {
            fail(ALLOCATOR, format!("gives {} blocks instead of {count}", blocks.len()));
        }
        for &block in &blocks {
            match self.owners.get_mut(block as usize) {
                Some(owners @ 0) => *owners = 1,
                Some(_) => fail(ALLOCATOR, format!("gives block {block}, which has an owner")),
                None => fail(ALLOCATOR, format!("gives block {block}, which there is not")),
            }
        }
        self.compare(&blocks);
        Some(blocks)
    }

    /// Another text, or the cache, holds these blocks too.
    pub fn share(&mut self, blocks: &[u32]) {
        blocks.iter().for_each(|&block| self.owners[block as usize] += 1);
        call(ALLOCATOR, || self.allocator.share(blocks));
        self.compare(blocks);
    }

    /// A text, or the cache, holds these blocks no more.
    pub fn release(&mut self, blocks: &[u32]) {
        blocks.iter().for_each(|&block| self.owners[block as usize] -= 1);
        call(ALLOCATOR, || self.allocator.release(blocks));
        self.compare(blocks);
    }

    fn free(&self) -> usize {
        self.owners.iter().filter(|owners| **owners == 0).count()
    }

    /// Holds what the allocator says against the count of the engine.
    fn compare(&self, blocks: &[u32]) {
        let free = call(ALLOCATOR, || self.allocator.free_blocks());
        self.parts.compare(ALLOCATOR, "the number of free blocks", &free, || self.free());
        let owners = |block: &u32| call(ALLOCATOR, || self.allocator.owners(*block)) as usize;
        let found: Vec<usize> = blocks.iter().map(owners).collect();
        let expected = || blocks.iter().map(|&block| self.owners[block as usize] as usize);
        self.parts.compare(ALLOCATOR, "the owners of blocks", &found, || expected().collect());
    }

    /// The blocks with which a text begins, as far as the cache has them.
    pub fn prefix(&self, tokens: &[u32]) -> Vec<u32> {
        let blocks = self.parts.ask_exactly("longest_prefix", "the blocks of a prompt", |parts| {
            (parts.longest_prefix)(&self.cached, tokens, BLOCK_SIZE, &hash)
        });
        if blocks.len() * BLOCK_SIZE >= tokens.len() {
            fail("longest_prefix", "leaves no token of a prompt to compute");
        }
        if let Some(block) = blocks.iter().find(|block| !self.keeps(&[**block])) {
            fail("longest_prefix", format!("finds block {block}, which is not in the cache"));
        }
        blocks
    }

    /// Whether all of these blocks are in the cache.
    pub fn keeps(&self, blocks: &[u32]) -> bool {
        blocks.iter().all(|&block| self.is_cached.get(block as usize) == Some(&true))
    }

    /// The cache keeps the full blocks of a text that are new to it. `tokens` are those that are
    /// computed.
    pub fn remember(&mut self, tokens: &[u32], blocks: &[u32]) {
        let (mut parent, mut before) = (ROOT, None);
        for (tokens, &block) in tokens.chunks_exact(BLOCK_SIZE).zip(blocks) {
            parent = hash(parent, tokens);
            let known = self.cached.get(&parent);
            // Another text with the same hash: what follows cannot be found.
            if known.is_some_and(|known| known.tokens != tokens) {
                return;
            }
            before = match known {
                Some(known) => Some(known.block),
                None => {
                    let tokens = tokens.to_vec();
                    self.cached.insert(parent, CachedBlock { block, parent: before, tokens });
                    self.order.push(parent);
                    self.is_cached[block as usize] = true;
                    self.share(&[block]);
                    Some(block)
                }
            };
        }
    }

    /// A text gives up its blocks. Those that the cache keeps are evicted later than all others, and a
    /// tail before its head.
    pub fn give_up(&mut self, tokens: &[u32], blocks: &[u32]) {
        self.release(blocks);
        let mut parent = ROOT;
        let hashes: Vec<u64> = tokens
            .chunks_exact(BLOCK_SIZE)
            .map(|tokens| {
                parent = hash(parent, tokens);
                parent
            })
            .collect();
        let (used, mut order): (Vec<u64>, Vec<u64>) =
            self.order.iter().partition(|hash| hashes.contains(hash));
        order.extend(hashes.iter().rev().filter(|hash| used.contains(hash)));
        self.order = order;
    }
}

/// What the first block of a text has for a parent.
const ROOT: u64 = 0;

/// The hash of a block behind another: each token is mixed into its parent's.
pub fn hash(parent: u64, tokens: &[u32]) -> u64 {
    tokens.iter().fold(parent.wrapping_add(1), |hash, &token| {
        let mixed = (hash ^ u64::from(token)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 32
    })
}
