//! What the parts for many texts take and return. The types have the same fields as in the exercises.

use std::time::Duration;

use super::Rows;

/// Outputs of a panel.
pub const LANES: usize = 4;

/// Some outputs of a matrix side by side: `[n_in][LANES]`.
pub type Panel = Vec<[f32; LANES]>;

/// A panel times `M` rows of `x`, `[n_in][M]`.
pub type Kernel<const M: usize> = fn(&[[f32; LANES]], &[[f32; M]]) -> [[f32; LANES]; M];

/// The microkernel, for one row and for four.
#[derive(Clone, Copy)]
pub struct Microkernel {
    pub one: Kernel<1>,
    pub four: Kernel<4>,
}

/// Weights of a group.
pub const GROUP: usize = 4;

/// Some weights of one output: each is its integer times the scale.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

/// Some positions that a query looks at.
#[derive(Debug, Clone)]
pub struct Tile {
    /// `[positions]`, minus infinity for one that is hidden.
    pub scores: Vec<f32>,
    /// `[positions][head_dim]`
    pub values: Rows,
}

/// The blocks of one text, and how many of its positions are written.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockTable {
    pub blocks: Vec<u32>,
    pub length: usize,
}

/// Where the keys and values of a position lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub block: u32,
    pub offset: usize,
}

/// Gives out the blocks of a pool, each to one owner or to several.
pub trait Allocator {
    fn allocate(&mut self, count: usize) -> Option<Vec<u32>>;
    fn share(&mut self, blocks: &[u32]);
    fn release(&mut self, blocks: &[u32]);
    fn free_blocks(&self) -> usize;
    fn owners(&self, block: u32) -> u32;
}

/// A full block in the prefix cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedBlock {
    pub block: u32,
    /// The block before it, none for the first of a text.
    pub parent: Option<u32>,
    pub tokens: Vec<u32>,
}

/// The hash of a block with these tokens, behind a block with this hash.
pub type Hash<'a> = dyn Fn(u64, &[u32]) -> u64 + 'a;

/// A text as a plan sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub name: char,
    pub prompt: usize,
    pub computed: usize,
}

/// What one step may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub token_budget: usize,
    pub max_running: usize,
    pub free_blocks: usize,
}

/// The part of one text in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    pub name: char,
    pub tokens: usize,
    pub wants_logits: bool,
}

/// A text, and the blocks that nobody else holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    pub name: char,
    /// The smaller, the older.
    pub arrival: usize,
    pub tokens: Vec<u32>,
    pub computed: usize,
    pub blocks: Vec<u32>,
}

/// Who holds which blocks. Each list is in the order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Holders {
    pub running: Vec<Holder>,
    pub paused: Vec<Holder>,
    pub waiting: Vec<Holder>,
    /// In any order.
    pub free: Vec<u32>,
}

/// Counts the texts that run or wait.
pub trait Queue: Send + Sync {
    fn free(&self) -> usize;

    /// # Errors
    /// Where there is no room.
    fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Box<dyn Slots>, Refusal>;
}

/// The slots of a request. Dropping them frees them.
pub trait Slots: Send {
    fn end_one(&mut self);
}

/// Why a request was not admitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// It may come again after so many seconds.
    Full {
        retry_after: u64,
    },
    TooLarge,
}
