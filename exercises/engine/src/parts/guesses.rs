//! What the parts for guesses take and return. The types have the same fields as in the exercises.

/// How far to search a text, and how much to guess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookup {
    pub shortest: usize,
    pub longest: usize,
    pub most: usize,
}

/// What a pass over guesses leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub gained: Vec<u32>,
    pub kept_rows: usize,
}

/// A block, and who holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldBlock {
    pub owners: u32,
    pub filled: usize,
}

/// All blocks, by their ids.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldBlocks {
    pub block_size: usize,
    pub blocks: Vec<HeldBlock>,
}

/// The blocks of a text, and how many of its positions are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    pub blocks: Vec<usize>,
    pub length: usize,
}
