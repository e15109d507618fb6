//! Attention of several texts: keys and values that lie in blocks.

use std::iter;

use crate::blocks::BLOCK_SIZE;
use crate::broken::fail;
use crate::model::{At, Memory, Model, Projected, of_length};
use crate::parts::{BlockTable, Heads, Parts, Place, Rows, Tile, TileKind};

/// The keys and values of all blocks.
pub struct Pool {
    /// `[layers][blocks * BLOCK_SIZE]`, and for each `[n_kv_heads][head_dim]`. A cell that was never
    /// written is empty.
    keys: Vec<Vec<Rows>>,
    values: Vec<Vec<Rows>>,
}

impl Pool {
    pub fn new(model: &Model, blocks: usize) -> Self {
        let empty = || vec![vec![Rows::new(); blocks * BLOCK_SIZE]; model.layers.len()];
        Self { keys: empty(), values: empty() }
    }
}

/// The texts of one pass, and where their positions lie.
pub struct Paged<'a> {
    pool: &'a mut Pool,
    texts: Vec<Table>,
}

struct Table {
    /// How many positions were written before this pass.
    length: usize,
    /// The first of them whose block is still the text's.
    first: usize,
    /// The cells of the positions that this pass writes.
    new: Vec<usize>,
    /// Those of all positions.
    cells: Vec<usize>,
}

const TABLE: &str = "block_table";
const TILES: &str = "window_tiles";

impl<'a> Paged<'a> {
    pub fn new(pool: &'a mut Pool) -> Self {
        Self { pool, texts: Vec::new() }
    }

    /// The next text of the pass: its blocks, how many positions are written, and how many come.
    pub fn add(&mut self, parts: &Parts, blocks: &[u32], length: usize, new: usize) {
        let end = length + new;
        let table = BlockTable { blocks: blocks.to_vec(), length: end };
        // Where to write, where to read, and one position that nobody has written.
        let positions: Vec<usize> = (length..end).chain(0..=end).collect();
        let places = parts.ask_exactly(TABLE, "where positions lie", |parts| {
            (parts.look_up)(&table, BLOCK_SIZE, &positions)
        });
        if places.len() != positions.len() {
            fail(TABLE, format!("gives {} places of {}", places.len(), positions.len()));
        }
        let count = self.pool.keys[0].len();
        let cell = |(position, place): (&usize, &Option<Place>)| match place {
            Some(Place { block, offset }) if *offset < BLOCK_SIZE => {
                let cell = *block as usize * BLOCK_SIZE + offset;
                if cell >= count {
                    fail(TABLE, format!("gives block {block}, which there is not"));
                }
                cell
            }
            Some(Place { offset, .. }) => {
                fail(TABLE, format!("gives offset {offset} in a block of {BLOCK_SIZE}"))
            }
            None => fail(TABLE, format!("does not know where position {position} of {end} lies")),
        };
        let mut new: Vec<usize> =
            iter::zip(&positions, &places).take(new + end).map(cell).collect();
        let cells = new.split_off(end - length);
        self.texts.push(Table { length, first: 0, new, cells });
    }

    /// Of the last text that was added, the blocks before this position were given back.
    pub fn begins_at(&mut self, first: usize) {
        if let Some(text) = self.texts.last_mut() {
            text.first = first;
        }
    }
}

impl Memory for Paged<'_> {
    fn length(&self, text: usize) -> usize {
        self.texts[text].length
    }

    fn first(&self, text: usize) -> usize {
        self.texts[text].first
    }

    fn attend(
        &mut self,
        parts: &Parts,
        At { layer, text, window }: At,
        new: &Projected,
        hidden: &[Vec<bool>],
    ) -> Heads {
        let table = &self.texts[text];
        let Table { new: written, cells, .. } = table;
        let looked_at = match window {
            Some(window) => table.behind(parts, window),
            None => (0..cells.len().div_ceil(BLOCK_SIZE)).map(|n| (n, TileKind::Edge)).collect(),
        };
        let (keys, values) = (&mut self.pool.keys[layer], &mut self.pool.values[layer]);
        for (i, &cell) in written.iter().enumerate() {
            keys[cell] = new.keys.iter().map(|head| head[i].clone()).collect();
            values[cell] = new.values.iter().map(|head| head[i].clone()).collect();
        }
        if let Some(cell) = cells.iter().find(|cell| keys[**cell].is_empty()) {
            fail(TABLE, format!("leads to block {}, which is empty", cell / BLOCK_SIZE));
        }
        let group = new.queries.len() / new.keys.len();
        // The mask of a window begins with the first key that is left.
        let hidden_from = if window.is_some() { table.first } else { 0 };
        let attend = |(h, queries): (usize, &Rows)| {
            let attend = |(query, hidden): (&Vec<f32>, &Vec<bool>)| {
                let hides = |position: usize| hidden[position - hidden_from];
                let tile = |&(number, kind): &(usize, TileKind)| {
                    let end = cells.len().min((number + 1) * BLOCK_SIZE);
                    let positions = number * BLOCK_SIZE..end;
                    let hidden = |position| kind == TileKind::Edge && hides(position);
                    let cells = positions.map(|position| (cells[position], hidden(position)));
                    tile(query, h / group, cells, keys, values)
                };
                let tiles: Vec<Tile> = looked_at.iter().map(tile).collect();
                let seen = parts
                    .ask("online_softmax", |parts| (parts.online_softmax)(query.len(), &tiles));
                of_length("online_softmax", seen, query.len())
            };
            iter::zip(queries, hidden).map(attend).collect()
        };
        new.queries.iter().enumerate().map(attend).collect()
    }
}

impl Table {
    /// The blocks that the queries of a pass look at in a layer with a window.
    fn behind(&self, parts: &Parts, window: usize) -> Vec<(usize, TileKind)> {
        let end = self.cells.len();
        let tiles = parts.ask_exactly(TILES, "the tiles that it looks at", |parts| {
            (parts.window_tiles)(self.length..end, Some(window), BLOCK_SIZE)
        });
        let oldest = (self.length + 1).saturating_sub(window);
        for &(number, _) in &tiles {
            let start = number.saturating_mul(BLOCK_SIZE);
            if start >= end || start < self.first && start + BLOCK_SIZE <= oldest {
                fail(TILES, format!("looks at tile {number}, which no query sees"));
            }
            if start < self.first {
                fail(BEHIND, format!("gave block {number} back, which a query still sees"));
            }
        }
        if tiles.is_empty() {
            fail(TILES, "looks at no tile");
        }
        tiles
    }
}

/// The exercise that gives back what is behind all windows.
pub const BEHIND: &str = "blocks_behind";

/// What a query looks at of a block: its cells, and which of them are hidden.
fn tile(
    query: &[f32],
    head: usize,
    cells: impl Iterator<Item = (usize, bool)>,
    keys: &[Rows],
    values: &[Rows],
) -> Tile {
    let root = (query.len() as f32).sqrt();
    let score = |(cell, hidden): (usize, bool)| match hidden {
        true => f32::NEG_INFINITY,
        false => dot(query, &keys[cell][head]) / root,
    };
    let (scores, values) = cells.map(|cell| (score(cell), values[cell.0][head].clone())).unzip();
    Tile { scores, values }
}

/// In eight sums side by side, which the compiler makes one instruction of.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in iter::zip(a, b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = iter::zip(a_rest, b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
