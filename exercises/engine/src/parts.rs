//! What the parts of the engine are: functions of the shapes that the exercises have.

mod gpus;
mod guesses;
mod many;
mod other;
mod regex;
mod router;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::book;
use crate::noticed::Noticed;

pub use gpus::{SlabHalf, SlabShape, SlabTable, UnitKernel, UnitPlace};
pub use guesses::{Checked, HeldBlock, HeldBlocks, Lookup, Table};
pub use many::{
    Allocator, BlockTable, CachedBlock, GROUP, Group, Hash, Holder, Holders, Kernel, LANES, Limits,
    Microkernel, Panel, Place, Planned, Queue, Refusal, Slots, Tile, Work,
};
pub use other::{Expert, ExpertOfRows, TileKind};
pub use regex::{Follows, NextTokens, States, TrieNode};
pub use router::{
    Budget, Check, Failure, Health, Next as NextAttempt, Replica, Thresholds, Weights,
};

include!("../parts.rs");

/// Queries, keys or values: `[heads][seq][head_dim]`.
pub type Heads = Vec<Vec<Vec<f32>>>;

/// A matrix, `[n_out][n_in]`, or some positions, `[seq][width]`.
pub type Rows = Vec<Vec<f32>>;

/// One pass of the model: some tokens, and the position of the first; returns the logits after the
/// last.
pub type Forward<'a> = dyn FnMut(&[u32], usize) -> Vec<f32> + 'a;

/// The logits after a text.
pub type Next<'a> = dyn Fn(&[u32]) -> Vec<f32> + 'a;

/// Attention of one position: its queries, `[n_heads][head_dim]`, the keys and the values that it
/// sees; returns `[n_heads][head_dim]`.
pub type Attend = fn(&[Vec<f32>], &[Rows], &[Rows]) -> Rows;

/// The engine, part by part. What each must do is said in the exercise of the same name.
#[derive(Clone)]
#[allow(
    clippy::type_complexity,
    reason = "a field has the signature of its exercise, which the reader knows"
)]
pub struct Parts {
    pub merge: fn(&str, &[(&str, &str)]) -> Vec<String>,
    pub chunked_prefill: fn(&[u32], usize, usize, &mut Forward<'_>) -> Vec<f32>,
    pub rms_norm: fn(&[f32], &[f32], f32) -> Vec<f32>,
    pub split_heads: fn(&[Vec<f32>], usize) -> Heads,
    pub merge_heads: fn(&[Rows]) -> Rows,
    pub rope: fn(&[f32], usize, f64) -> Vec<f32>,
    /// A cache with so many heads, room for so many positions, and this `head_dim`.
    pub cache: fn(usize, usize, usize) -> Box<dyn Cache>,
    /// So many new tokens behind so many others, with a window; true means hidden.
    pub causal_mask: fn(usize, usize, usize) -> Vec<Vec<bool>>,
    pub grouped_query_attention: Attend,
    /// Takes over from `grouped_query_attention` where a pass has a single token.
    pub attend_to_cache: Option<Attend>,
    pub swiglu: fn(&[f32], &[Vec<f32>], &[Vec<f32>], &[Vec<f32>]) -> Vec<f32>,
    pub last_row: fn(&[f32], usize) -> Option<&[f32]>,
    pub at_temperature: fn(&[f32], f32) -> Result<Vec<f32>, String>,
    pub nucleus: fn(&[f32], f32) -> Vec<f32>,
    /// A point on the line of the probabilities: the token on whose stretch it lies.
    pub draw: fn(&[f32], f64) -> usize,
    pub generate: fn(&Next<'_>, &[u32], &[u32], usize, usize) -> (Vec<u32>, End),
    pub decoder: fn() -> Box<dyn Decode>,
    pub stop_filter: fn(&[&str]) -> Box<dyn Filter>,
    /// Both ends of a stream that holds so many pieces.
    pub token_stream: fn(usize) -> (Box<dyn Emit>, Reader),
    pub detokenize: fn(&[u32], &[&[u8]], &[u32]) -> String,
    /// A matrix, `[n_out][n_in]`, in panels.
    pub pack: fn(&[Vec<f32>]) -> Vec<Panel>,
    pub microkernel: Microkernel,
    /// One output from quantized weights.
    pub group_product: fn(&[Group], &[f32]) -> f32,
    /// A table, the positions of a block, and some positions.
    pub look_up: fn(&BlockTable, usize, &[usize]) -> Vec<Option<Place>>,
    /// So many blocks, all free.
    pub allocator: fn(usize) -> Box<dyn Allocator>,
    /// The blocks of a cache with which a prompt begins; the positions of a block, and the hash.
    pub longest_prefix: fn(&HashMap<u64, CachedBlock>, &[u32], usize, &Hash<'_>) -> Vec<u32>,
    /// The attention of one query, from its tiles: `[head_dim]`, the number that comes first.
    pub online_softmax: fn(usize, &[Tile]) -> Vec<f32>,
    /// Those that run, and those that wait.
    pub one_step: fn(&[Planned], &[Planned], Limits) -> Vec<Work>,
    /// Who holds what after so many blocks were made free for a text, and whether they are.
    pub preemption: fn(&Holders, char, usize) -> (Holders, bool),
    /// A text, and how far to look in it: what may come next.
    pub prompt_lookup: fn(&[u32], Lookup) -> Vec<u32>,
    /// Guesses, and the token that was drawn after each row of the pass.
    pub accept_guesses: fn(&[u32], &[u32]) -> Checked,
    /// Truncates a text to so many positions, and returns the blocks that are free now.
    pub truncate_blocks: fn(&mut HeldBlocks, &mut Table, usize) -> Vec<usize>,
    /// The states of an automaton, and which of them accept: without ways into dead ends.
    pub prune_states: fn(&States, &[bool]) -> States,
    /// The bytes of each token.
    pub token_trie: fn(&[Vec<u8>]) -> TrieNode,
    /// A trie, an automaton, its state, and the size of the vocabulary.
    pub state_mask: fn(&TrieNode, &Follows<'_>, usize, usize) -> Vec<bool>,
    /// The tokens that fit, whether the text may end, and the tokens that end it.
    pub where_it_ends: fn(&[u32], bool, &[u32]) -> NextTokens,
    /// Numbers, units of a cube, and the most cubes: how many are launched.
    pub cubes: fn(usize, usize, usize) -> usize,
    /// So many cubes of so many units.
    pub launch: fn(usize, usize, &mut UnitKernel<'_>),
    /// What a unit does: its numbers of the rows, each times the weight of its column.
    pub scale: fn(UnitPlace, &[f32], &[f32], &mut [f32]),
    /// A row, and the units of a cube.
    pub tree_sum: fn(&[f32], usize) -> f32,
    /// Heads, `head_dim` and the units of a cube: how many cubes are launched.
    pub rotation_cubes: fn(usize, usize, usize) -> usize,
    /// What a unit does: its pair of the heads of a position, turned by these cosines and sines.
    pub rotate: fn(UnitPlace, &mut [f32], &[f32], &[f32]),
    /// The places of so many rows from a position on.
    pub slab_places: fn(&SlabTable, usize, usize) -> Option<Vec<u32>>,
    /// Where the numbers of a head lie, for so many positions: `[positions][head_dim]`.
    pub slab_indices: fn(SlabShape, &SlabTable, SlabHalf, usize, usize) -> Vec<Option<usize>>,
    /// What a unit does: its number of the keys and of the values, into the slab.
    pub slab_append: fn(usize, SlabShape, [&[f32]; 2], &[u32], &mut [f32]),
    /// Queries, the first key that is left, and the window: what each query attends to.
    pub window_mask: fn(Range<usize>, usize, Option<usize>) -> Vec<Vec<bool>>,
    /// Queries, the window, and the positions of a tile.
    pub window_tiles: fn(Range<usize>, Option<usize>, usize) -> Vec<(usize, TileKind)>,
    /// The positions that are written, the window of each layer, and the positions of a block.
    pub needed_blocks: fn(usize, &[Option<usize>], usize) -> Range<usize>,
    /// The scores of the experts, how many a token takes, and whether their weights sum to 1.
    pub mixture: fn(&[f32], usize, bool, &mut Expert<'_>) -> Vec<f32>,
    /// Rows, `[rows][d_model]`, and what each takes of each expert, `[rows][experts]`.
    pub rows_by_expert: fn(&[Vec<f32>], &[Vec<f32>], &mut ExpertOfRows<'_>) -> Rows,
    /// So many slots.
    pub queue: fn(usize) -> Box<dyn Queue>,
    /// A server-sent event with a name, or without one, and its data.
    pub sse_event: fn(Option<&str>, &str) -> Option<String>,
    /// What is believed of a replica after one more check.
    pub after_check: fn(Health, Check, Thresholds) -> Health,
    /// The replicas that get requests.
    pub candidates: fn(&[Health]) -> Vec<usize>,
    /// The replica of a prompt.
    pub prefix_router: fn(&[Replica], &[u32], Weights) -> usize,
    /// The points of the replicas, a key, their open requests, and the bound in percent of the mean.
    pub bounded_hash: fn(&[(u64, usize)], u64, &[usize], usize) -> usize,
    /// How an attempt failed, whether anything was sent, which replicas were tried, and which are ready.
    pub after_failure: fn(Failure, bool, &[usize], &[bool], &mut Budget) -> NextAttempt,
    /// The exercises that have taken over.
    pub yours: Vec<&'static str>,
    /// Where a result of yours was not the book's.
    pub noticed: Arc<Noticed>,
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Eos,
    Length,
    Context,
}

/// The keys and values of one layer.
pub trait Cache {
    /// Keeps the keys and values of new positions, and returns all that are kept.
    ///
    /// # Errors
    /// Where it says that they do not fit.
    fn append(&mut self, keys: &[Rows], values: &[Rows]) -> Result<(Heads, Heads), String>;
}

/// Bytes to characters.
pub trait Decode {
    fn push(&mut self, bytes: &[u8]) -> String;
    fn finish(self: Box<Self>) -> String;
}

/// A text, until it holds a stop string.
pub trait Filter {
    /// The text that is let through, and whether a stop string is complete.
    fn push(&mut self, piece: &str) -> (String, bool);
    fn finish(self: Box<Self>) -> String;
}

/// The end of a stream that the reader has.
pub type Reader = Box<dyn Iterator<Item = String> + Send>;

/// The end of a stream that the model has.
pub trait Emit {
    fn emit(&self, piece: String) -> Emitted;
}

/// What became of a piece.
pub enum Emitted {
    Sent,
    Behind(String),
    Gone,
}

impl Parts {
    /// All parts as they are in the book.
    pub fn of_the_book() -> Self {
        book::parts()
    }

    /// Whether an exercise has taken over.
    pub fn is_yours(&self, exercise: &str) -> bool {
        self.yours.contains(&exercise)
    }
}
