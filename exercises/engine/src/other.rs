//! Another model, made of ember's weights: its layers have windows, and experts in place of their network.
//! Nobody has trained it, so its stories are worse than ember's. Its text lies in a pool that is too small for
//! it: blocks behind all windows are given back.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::blocks::{BLOCK_SIZE, Blocks};
use crate::broken::fail;
use crate::matrix::dot;
use crate::memory::{Keeps, pass};
use crate::model::{FeedForward, Layer, Model, Network, Swiglu, of_length};
use crate::paged::{BEHIND, Paged, Pool};
use crate::parts::{Parts, Rows};
use crate::story::{Request, opening};

/// The window of each layer: the widest decides how many blocks a text needs.
const WINDOWS: [usize; 2] = [48, 24];
const EXPERTS: usize = 4;
const PER_TOKEN: usize = 2;

/// As few as a text needs with these windows.
const BLOCKS: usize = 13;

/// A story of the other model, longer than its pool.
pub fn request() -> Request {
    Request {
        // Longer than a window.
        prompt: opening(30),
        max_tokens: 100,
        blocks: Some(BLOCKS),
        ..Request::default()
    }
}

/// The feed-forward networks of a layer, of which each token takes a few.
#[derive(Debug, Clone)]
pub struct Experts {
    /// `[experts][d_model]`
    router: Rows,
    /// Whether the weights of the experts that a token takes sum to 1.
    renormalized: bool,
    experts: Vec<Swiglu>,
}

/// The same for each model that is given.
pub fn made_of(ember: &Model) -> Model {
    let mut random = ChaCha12Rng::seed_from_u64(4);
    let mut number = || random.next_u32() as f32 / (1u64 << 31) as f32 - 1.0;
    let mut layer = |(i, layer): (usize, &Layer)| {
        let FeedForward::One(network) = &layer.feed_forward else {
            return layer.clone();
        };
        let d_model = layer.feed_forward_norm.len();
        let router = (0..EXPERTS).map(|_| (0..d_model).map(|_| 0.3 * number()).collect()).collect();
        // An expert is ember's network, in which each hidden unit counts for less or for more.
        let mut expert = || {
            let counts: Vec<f32> = network.gate.iter().map(|_| 1.0 + 0.4 * number()).collect();
            let scaled = |row: &Vec<f32>| row.iter().zip(&counts).map(|(x, c)| x * c).collect();
            Swiglu {
                down: network.down.iter().map(scaled).collect(),
                ..network.clone()
            }
        };
        let experts = (0..EXPERTS).map(|_| expert()).collect();
        // There are models of both kinds.
        let renormalized = i > 0;
        Layer {
            window: Some(WINDOWS[i % WINDOWS.len()]),
            feed_forward: FeedForward::Experts(Experts { router, renormalized, experts }),
            ..layer.clone()
        }
    };
    Model {
        layers: ember.layers.iter().enumerate().map(&mut layer).collect(),
        ..ember.clone()
    }
}

impl Experts {
    /// What the experts make of some positions, `[seq][d_model]`.
    pub fn mixed(&self, parts: &Parts, normed: &[Vec<f32>]) -> Rows {
        let name = "rows_by_expert";
        let routing: Rows = normed.iter().map(|x| self.weights(parts, x)).collect();
        let mixed = parts.ask(name, |parts| {
            let mut expert = |number: usize, rows: &[Vec<f32>]| match self.experts.get(number) {
                Some(network) => network.fed(parts, rows),
                None => fail(name, format!("asks for expert {number} of {EXPERTS}")),
            };
            (parts.rows_by_expert)(normed, &routing, &mut expert)
        });
        if mixed.len() != normed.len() {
            fail(name, format!("returned {} rows instead of {}", mixed.len(), normed.len()));
        }
        mixed.into_iter().map(|row| of_length(name, row, normed[0].len())).collect()
    }

    /// How much a position takes of each expert, `[experts]`. `mixture` returns a weighted sum of what the
    /// experts compute: where each of them "computes" a 1 at its place, these are the weights.
    fn weights(&self, parts: &Parts, x: &[f32]) -> Vec<f32> {
        let name = "mixture";
        let scores: Vec<f32> = self.router.iter().map(|row| dot(row, x)).collect();
        let weights = parts.ask(name, |parts| {
            let mut one = |number: usize| {
                if number >= EXPERTS {
                    fail(name, format!("takes expert {number} of {EXPERTS}"));
                }
                (0..EXPERTS).map(|other| f32::from(u8::from(other == number))).collect()
            };
            (parts.mixture)(&scores, PER_TOKEN, self.renormalized, &mut one)
        });
        of_length(name, weights, EXPERTS)
    }
}

/// A text that holds only the blocks that its windows need.
pub struct Windowed<'a> {
    pool: Pool,
    blocks: Blocks<'a>,
    /// The block of each position. Those before `first` belong to others by now.
    table: Vec<u32>,
    /// The number of the first block that was not given back.
    first: usize,
    length: usize,
}

impl<'a> Windowed<'a> {
    pub fn new(model: &Model, parts: &'a Parts, blocks: usize) -> Self {
        Self {
            pool: Pool::new(model, blocks),
            blocks: Blocks::new(parts, blocks),
            table: Vec::new(),
            first: 0,
            length: 0,
        }
    }

    /// Gives back what no later query sees.
    fn give_back(&mut self, parts: &Parts, model: &Model) {
        let windows: Vec<Option<usize>> = model.layers.iter().map(|layer| layer.window).collect();
        let needed = parts.ask_exactly(BEHIND, "the blocks that the text needs", |parts| {
            (parts.needed_blocks)(self.length, &windows, BLOCK_SIZE)
        });
        if needed.start > self.length / BLOCK_SIZE {
            fail(BEHIND, format!("gives back block {}, which is not full", needed.start - 1));
        }
        let behind = self.first..needed.start.max(self.first);
        self.blocks.release(&self.table[behind.clone()]);
        self.first = behind.end;
    }
}

impl Keeps for Windowed<'_> {
    fn length(&self) -> usize {
        self.length
    }

    fn read(
        &mut self,
        network: &Network<'_>,
        parts: &Parts,
        tokens: &[u32],
        start: usize,
    ) -> Vec<f32> {
        let end = self.length + tokens.len();
        let lacks = end.div_ceil(BLOCK_SIZE) - self.table.len();
        let Some(blocks) = self.blocks.allocate(lacks) else {
            fail(
                BEHIND,
                format!("has given back too few blocks: none is free for position {}", end - 1),
            );
        };
        self.table.extend(blocks);
        let mut memory = Paged::new(&mut self.pool);
        memory.add(parts, &self.table, self.length, tokens.len());
        memory.begins_at(self.first * BLOCK_SIZE);
        let logits = pass(network, parts, tokens, start, &mut memory);
        self.length = end;
        self.give_back(parts, network.model);
        logits
    }
}
