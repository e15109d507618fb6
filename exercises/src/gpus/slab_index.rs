//! Keys and values in a slab: which number a unit reads, and where it writes.

/// The positions of a block.
pub const BLOCK: usize = 4;

/// The sizes of the keys and values of a layer.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Keys,
    Values,
}

/// The blocks of one sequence.
#[derive(Debug, Clone)]
pub struct Table {
    /// The slots of the slab that hold its blocks, in the order of the positions.
    pub slots: Vec<u32>,
    /// The number of the block in the first of these slots. It is more than 0 if the blocks behind
    /// a window were given back.
    pub first_block: usize,
}

/// The positions of a sequence that are new in a pass.
#[derive(Debug, Clone)]
pub struct Rows {
    pub table: Table,
    /// The first new position.
    pub start: usize,
    /// How many there are.
    pub count: usize,
}

/// A GPU kernel gets the keys and values of a layer as one long list, the slab, so every read is an
/// index that you compute. Return the index of number `i` of the key or value of a head, at a
/// position of a sequence. `None` if the table has no slot for the position.
///
/// The slab holds slot after slot. A slot holds the keys of all heads, and then the values of all
/// heads. The keys of a head lie as `[head_dim][BLOCK]`, its values as `[BLOCK][head_dim]`.
///
/// ```text
/// 1 head, head_dim 2, slots 5 and 3; a slot has 16 numbers
///
/// key    of position 6, number 1:  slot 3, 48 + 1 * 4 + 2     = 54
/// value  of position 6, number 1:  slot 3, 48 + 8 + 2 * 2 + 1 = 61
/// ```
pub fn index(
    shape: Shape,
    table: &Table,
    part: Part,
    head: usize,
    position: usize,
    i: usize,
) -> Option<usize> {
    todo!()
}

/// The places of all new rows of a pass, sequence after sequence: `BLOCK` times the slot, plus the
/// position in the block. The host computes them once, and each layer reads them. `None` if a row
/// has no slot.
pub fn places(sequences: &[Rows]) -> Option<Vec<u32>> {
    todo!()
}

/// The kernel that writes new keys and values into the slab: what unit `unit` does.
///
/// `keys` and `values` are `[rows][n_kv_heads][head_dim]`, and `places` has the place of each row.
/// A unit takes the number of the keys at its index, and the number of the values there too. There
/// may be more units than numbers.
pub fn append(
    unit: usize,
    shape: Shape,
    keys: &[f32],
    values: &[f32],
    places: &[u32],
    slab: &mut [f32],
) {
    todo!()
}
