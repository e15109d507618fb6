//! Attention of several texts: keys and values that lie in blocks.

use std::iter;

use crate::blocks::BLOCK_SIZE;
use crate::broken::fail;
use crate::model::{At, Memory, Model, Projected, of_length};
use crate::parts::{BlockTable, Heads, Parts, Place, Rows, Tile};

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
    /// The cells of the positions that this pass writes.
    new: Vec<usize>,
    /// Those of all positions.
    cells: Vec<usize>,
}

const TABLE: &str = "block_table";

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
        self.texts.push(Table { length, new, cells });
    }
}

impl Memory for Paged<'_> {
    fn length(&self, text: usize) -> usize {
        self.texts[text].length
    }

    fn attend(
        &mut self,
        parts: &Parts,
        At { layer, text }: At,
        new: &Projected,
        hidden: &[Vec<bool>],
    ) -> Heads {
        let Table { new: written, cells, .. } = &self.texts[text];
        let (keys, values) = (&mut self.pool.keys[layer], &mut self.pool.values[layer]);
        for (i, &cell) in written.iter().enumerate() {
            keys[cell] = new.keys.iter().map(|head| head[i].clone()).collect();
            values[cell] = new.values.iter().map(|head| head[i].clone()).collect();
        }
        if let Some(cell) = cells.iter().find(|cell| keys[**cell].is_empty()) {
            fail(TABLE, format!("leads to block {}, which is empty", cell / BLOCK_SIZE));
        }
        let group = new.queries.len() / new.keys.len();
        let attend = |(h, queries): (usize, &Rows)| {
            let attend = |(query, hidden): (&Vec<f32>, &Vec<bool>)| {
                let tiles = tiles(query, h / group, cells, keys, values, hidden);
                let seen = parts
                    .ask("online_softmax", |parts| (parts.online_softmax)(query.len(), &tiles));
                of_length("online_softmax", seen, query.len())
            };
            iter::zip(queries, hidden).map(attend).collect()
        };
        new.queries.iter().enumerate().map(attend).collect()
    }
}

/// What a query looks at, a tile for each block.
fn tiles(
    query: &[f32],
    head: usize,
    cells: &[usize],
    keys: &[Rows],
    values: &[Rows],
    hidden: &[bool],
) -> Vec<Tile> {
    let root = (query.len() as f32).sqrt();
    let tile = |(cells, hidden): (&[usize], &[bool])| {
        let score = |(&cell, &hidden): (&usize, &bool)| match hidden {
            true => f32::NEG_INFINITY,
            false => dot(query, &keys[cell][head]) / root,
        };
        Tile {
            scores: iter::zip(cells, hidden).map(score).collect(),
            values: cells.iter().map(|&cell| values[cell][head].clone()).collect(),
        }
    };
    iter::zip(cells.chunks(BLOCK_SIZE), hidden.chunks(BLOCK_SIZE)).map(tile).collect()
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
