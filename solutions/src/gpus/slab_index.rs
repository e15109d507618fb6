//! Keys and values in a slab: which number a unit reads, and where it writes.
//!
//! Why: a device has no list of blocks with owners. It has one long list of numbers, and a block is
//! where its slot begins. So the host translates positions into slots, once for each row of a pass,
//! and a unit only needs divisions and remainders. Why do keys and values lie differently? For the
//! keys the units of a plane take one position each, so the positions of one number are adjacent;
//! for the values they take one number each, so the numbers of one position are.
//!
//! What it costs: some integer arithmetic for each number, and one list of places for each pass,
//! which all layers read.
//!
//! A common wrong turn: dividing the position by the size of a block and taking that for the slot.
//! It is the number of the block in its sequence, and only the table knows its slot.

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
    /// The number of the block in the first of these slots.
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

/// The index in the slab of number `i` of the key or value of a head, at a position of a sequence.
pub fn index(
    shape: Shape,
    table: &Table,
    part: Part,
    head: usize,
    position: usize,
    i: usize,
) -> Option<usize> {
    let place = place(table, position)?;
    Some(at(shape, place, part, head, i))
}

/// The places of all new rows of a pass, sequence after sequence.
pub fn places(sequences: &[Rows]) -> Option<Vec<u32>> {
    let of_sequence = |rows: &Rows| {
        let positions = rows.start..rows.start + rows.count;
        let places: Vec<_> = positions.map(|position| place(&rows.table, position)).collect();
        places
    };
    sequences.iter().flat_map(of_sequence).collect()
}

/// The kernel that writes new keys and values into the slab: what unit `unit` does.
pub fn append(
    unit: usize,
    shape: Shape,
    keys: &[f32],
    values: &[f32],
    places: &[u32],
    slab: &mut [f32],
) {
    if unit >= keys.len() {
        return;
    }
    let i = unit % shape.head_dim;
    let head = unit / shape.head_dim % shape.n_kv_heads;
    let row = unit / (shape.head_dim * shape.n_kv_heads);
    slab[at(shape, places[row], Part::Keys, head, i)] = keys[unit];
    slab[at(shape, places[row], Part::Values, head, i)] = values[unit];
}

/// The slot of a position, times `BLOCK`, and the position in its block.
fn place(table: &Table, position: usize) -> Option<u32> {
    let block = (position / BLOCK).checked_sub(table.first_block)?;
    let slot = table.slots.get(block)?;
    Some(slot * BLOCK as u32 + (position % BLOCK) as u32)
}

fn at(shape: Shape, place: u32, part: Part, head: usize, i: usize) -> usize {
    let Shape { n_kv_heads, head_dim } = shape;
    let (slot, within) = (place as usize / BLOCK, place as usize % BLOCK);
    let half = match part {
        Part::Keys => 0,
        Part::Values => 1,
    };
    let head = ((2 * slot + half) * n_kv_heads + head) * BLOCK * head_dim;
    match part {
        Part::Keys => head + i * BLOCK + within,
        Part::Values => head + within * head_dim + i,
    }
}
