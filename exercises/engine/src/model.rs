//! The model: ids to logits, in plain loops around the parts. One pass reads tokens of one text, or of
//! several.

use std::iter;
use std::ops::Range;

use crate::broken::fail;
use crate::matrix::{Bits, Matrix};
use crate::other::Experts;
use crate::parts::{Heads, Parts, Rows};
use crate::units::Units;
use crate::weights::Config;

/// A Llama with a tied head.
#[derive(Debug, Clone)]
pub struct Model {
    pub config: Config,
    /// `[vocab][d_model]`
    pub embedding: Rows,
    pub layers: Vec<Layer>,
    /// `[d_model]`
    pub norm: Vec<f32>,
}

/// The weights of a layer: norms, `[d_model]`, and matrices, `[n_out][n_in]`.
#[derive(Debug, Clone)]
pub struct Layer {
    pub attention_norm: Vec<f32>,
    pub queries: Rows,
    pub keys: Rows,
    pub values: Rows,
    pub output: Rows,
    /// How many positions a query attends to, including its own. Ember has no window.
    pub window: Option<usize>,
    pub feed_forward_norm: Vec<f32>,
    pub feed_forward: FeedForward,
}

/// What follows attention.
#[derive(Debug, Clone)]
pub enum FeedForward {
    One(Swiglu),
    Experts(Experts),
}

/// A feed-forward network.
#[derive(Debug, Clone)]
pub struct Swiglu {
    pub gate: Rows,
    pub up: Rows,
    pub down: Rows,
}

/// A model whose matrices are as the kernels read them.
pub struct Network<'a> {
    pub model: &'a Model,
    layers: Vec<Projections>,
    /// The embedding once more: a logit is the product with the row of its token.
    head: Matrix,
    /// Run RMSNorm and RoPE as kernels, if there are any.
    pub units: Option<Units>,
}

/// The matrices of a layer around its attention. Those of the feed-forward network go to `swiglu` as
/// they are.
struct Projections {
    queries: Matrix,
    keys: Matrix,
    values: Matrix,
    output: Matrix,
}

/// The new tokens of one text in a pass.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// At least one.
    pub tokens: &'a [u32],
    /// The position of the first.
    pub start: usize,
    pub wants_logits: bool,
}

/// Where keys and values are kept.
pub trait Memory {
    /// How many positions of a text were written before the pass.
    fn length(&self, text: usize) -> usize;

    /// The first of them that is kept for layers with a window.
    fn first(&self, _text: usize) -> usize {
        0
    }

    /// Keeps the keys and values of new positions of a text in a layer, `[n_kv_heads][seq][head_dim]`,
    /// and returns the attention of the queries, `[n_heads][seq][head_dim]`, to all that is kept but
    /// what is hidden, `[seq][length + seq]`, or `[seq][length + seq - first]` with a window.
    fn attend(&mut self, parts: &Parts, at: At, new: &Projected, hidden: &[Vec<bool>]) -> Heads;
}

/// Which layer of which text of a pass.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub layer: usize,
    pub text: usize,
    pub window: Option<usize>,
}

/// What attention needs of the new positions of a text.
pub struct Projected {
    pub queries: Heads,
    pub keys: Heads,
    pub values: Heads,
}

impl Model {
    /// Packs the matrices.
    pub fn packed(&self, parts: &Parts, bits: Bits) -> Network<'_> {
        let packed = |rows: &Rows| Matrix::packed(parts, rows, bits);
        let projections = |layer: &Layer| Projections {
            queries: packed(&layer.queries),
            keys: packed(&layer.keys),
            values: packed(&layer.values),
            output: packed(&layer.output),
        };
        Network {
            model: self,
            layers: self.layers.iter().map(projections).collect(),
            head: packed(&self.embedding),
            units: None,
        }
    }
}

impl Network<'_> {
    // ANCHOR: forward
    /// One pass: reads the new tokens of each text, and returns the logits after the last of each that
    /// wants them, `[vocab]`.
    pub fn forward(
        &self,
        parts: &Parts,
        texts: &[Chunk<'_>],
        memory: &mut dyn Memory,
    ) -> Vec<Option<Vec<f32>>> {
        let tokens = texts.iter().flat_map(|text| text.tokens);
        let mut x: Rows = tokens.map(|&id| self.model.embedding[id as usize].clone()).collect();
        let texts: Vec<Span<'_>> = self.spans(parts, texts, memory);
        for (i, (layer, matrices)) in iter::zip(&self.model.layers, &self.layers).enumerate() {
            let normed = self.normed(parts, &x, &layer.attention_norm);
            // A product for the positions of all texts: each weight is read once.
            let queries = matrices.queries.product(parts, &normed);
            let keys = matrices.keys.product(parts, &normed);
            let values = matrices.values.product(parts, &normed);
            let mut seen = Rows::new();
            for (number, text) in texts.iter().enumerate() {
                let heads = |rows: &Rows| self.split(parts, &rows[text.rows.clone()]);
                let new = Projected {
                    queries: self.turned(parts, heads(&queries), text.chunk.start),
                    keys: self.turned(parts, heads(&keys), text.chunk.start),
                    values: heads(&values),
                };
                let at = At { layer: i, text: number, window: layer.window };
                let behind =
                    layer.window.map(|window| windowed(parts, window, text, memory, number));
                let hidden = behind.as_ref().unwrap_or(&text.hidden);
                let heads = memory.attend(parts, at, &new, hidden);
                seen.extend(self.merged(parts, &heads));
            }
            add(&mut x, &matrices.output.product(parts, &seen));

            let normed = self.normed(parts, &x, &layer.feed_forward_norm);
            let fed = match &layer.feed_forward {
                FeedForward::One(network) => network.fed(parts, &normed),
                FeedForward::Experts(experts) => experts.mixed(parts, &normed),
            };
            add(&mut x, &fed);
        }
        let logits = |text: &Span<'_>| {
            text.chunk.wants_logits.then(|| self.logits(parts, &x[text.rows.clone()]))
        };
        texts.iter().map(logits).collect()
    }
    // ANCHOR_END: forward

    fn spans<'a>(&self, parts: &Parts, texts: &[Chunk<'a>], memory: &dyn Memory) -> Vec<Span<'a>> {
        let mut end = 0;
        let span = |(i, chunk): (usize, &Chunk<'a>)| {
            let rows = end..end + chunk.tokens.len();
            end = rows.end;
            let hidden = self.hidden(parts, chunk.tokens.len(), memory.length(i));
            Span { chunk: *chunk, rows, hidden }
        };
        texts.iter().enumerate().map(span).collect()
    }

    /// The logits after the last of some positions. A row of them comes from one row of `x` alone, so
    /// those before the last are not computed.
    fn logits(&self, parts: &Parts, x: &[Vec<f32>]) -> Vec<f32> {
        let d_model = self.model.norm.len();
        let last = parts.ask("last_row", |parts| {
            let last = (parts.last_row)(&x.concat(), d_model).map(<[f32]>::to_vec);
            last.map(|row| of_length("last_row", row, d_model))
        });
        let Some(last) = last else {
            fail("last_row", "returned None, but there are rows");
        };
        self.head.product(parts, &self.normed(parts, &[last], &self.model.norm)).concat()
    }

    fn normed(&self, parts: &Parts, x: &[Vec<f32>], weight: &[f32]) -> Rows {
        if let Some(units) = self.units {
            return units.norm(parts, x, weight, self.model.config.eps);
        }
        let norm = |x: &Vec<f32>| {
            let y =
                parts.ask("rms_norm", |parts| (parts.rms_norm)(x, weight, self.model.config.eps));
            of_length("rms_norm", y, x.len())
        };
        x.iter().map(norm).collect()
    }

    /// `[seq][heads * head_dim]` -> `[heads][seq][head_dim]`
    fn split(&self, parts: &Parts, rows: &[Vec<f32>]) -> Heads {
        let head_dim = self.model.config.head_dim;
        let heads = parts.ask("split_heads", |parts| (parts.split_heads)(rows, head_dim));
        let shape = [rows[0].len() / head_dim, rows.len(), head_dim];
        of_shape("split_heads", heads, shape)
    }

    /// The way back.
    fn merged(&self, parts: &Parts, heads: &[Rows]) -> Rows {
        let rows = parts.ask("split_heads", |parts| (parts.merge_heads)(heads));
        let width = heads.len() * self.model.config.head_dim;
        if rows.len() != heads[0].len() || rows.iter().any(|row| row.len() != width) {
            fail("split_heads", "put heads together to another shape than they had");
        }
        rows
    }

    /// Queries or keys, each as its position demands.
    fn turned(&self, parts: &Parts, heads: Heads, start: usize) -> Heads {
        let theta = self.model.config.rope.theta;
        if let Some(units) = self.units {
            return units.turned(parts, heads, start, theta);
        }
        let turn = |(i, x): (usize, &Vec<f32>)| {
            let turned = parts.ask("rope", |parts| (parts.rope)(x, start + i, theta));
            of_length("rope", turned, x.len())
        };
        heads.iter().map(|head| head.iter().enumerate().map(turn).collect()).collect()
    }

    /// What each of `seq` new positions must not look at, `[seq][cached + seq]`.
    fn hidden(&self, parts: &Parts, seq: usize, cached: usize) -> Vec<Vec<bool>> {
        // Layers with a window have a mask of their own.
        let hidden = parts.ask("causal_mask", |parts| (parts.causal_mask)(seq, cached, usize::MAX));
        if hidden.len() != seq || hidden.iter().any(|row| row.len() != cached + seq) {
            fail(
                "causal_mask",
                format!("made no mask of {seq} rows and {} columns", cached + seq),
            );
        }
        if hidden.iter().any(|row| row.iter().all(|&hidden| hidden)) {
            fail("causal_mask", "hides everything from a token");
        }
        hidden
    }
}

/// The new tokens of a text, which rows of a pass are theirs, and what they must not look at.
struct Span<'a> {
    chunk: Chunk<'a>,
    rows: Range<usize>,
    hidden: Vec<Vec<bool>>,
}

/// What the new positions of a text must not look at in a layer with a window.
fn windowed(
    parts: &Parts,
    window: usize,
    text: &Span<'_>,
    memory: &dyn Memory,
    number: usize,
) -> Vec<Vec<bool>> {
    const NAME: &str = "window_mask";
    let (first, length) = (memory.first(number), memory.length(number));
    let end = length + text.chunk.tokens.len();
    let seen = parts.ask(NAME, |parts| (parts.window_mask)(length..end, first, Some(window)));
    if seen.len() != end - length || seen.iter().any(|row| row.len() != end - first) {
        let (rows, columns) = (end - length, end - first);
        fail(NAME, format!("made no mask of {rows} rows and {columns} columns"));
    }
    if seen.iter().any(|row| !row.contains(&true)) {
        fail(NAME, "hides everything from a token");
    }
    seen.into_iter().map(|row| row.into_iter().map(|sees| !sees).collect()).collect()
}

impl Swiglu {
    /// Position by position.
    pub fn fed(&self, parts: &Parts, normed: &[Vec<f32>]) -> Rows {
        let Self { gate, up, down } = self;
        let fed = |x: &Vec<f32>| {
            let y = parts.ask("swiglu", |parts| (parts.swiglu)(x, gate, up, down));
            of_length("swiglu", y, x.len())
        };
        normed.iter().map(fed).collect()
    }
}

fn add(x: &mut Rows, more: &[Vec<f32>]) {
    for (x, more) in iter::zip(x.iter_mut().flatten(), more.iter().flatten()) {
        *x += more;
    }
}

/// As many numbers as there must be, all finite: what is not would spread through all that follows.
pub fn of_length(part: &'static str, numbers: Vec<f32>, length: usize) -> Vec<f32> {
    if numbers.len() != length {
        fail(part, format!("returned {} numbers instead of {length}", numbers.len()));
    }
    if let Some(odd) = numbers.iter().find(|number| !number.is_finite()) {
        fail(part, format!("returned a number that is {odd}"));
    }
    numbers
}

/// As many heads, positions and numbers as there must be, all finite.
pub fn of_shape(part: &'static str, heads: Heads, [n, seq, width]: [usize; 3]) -> Heads {
    let fits = |head: &Rows| head.len() == seq && head.iter().all(|row| row.len() == width);
    if heads.len() != n || !heads.iter().all(fits) {
        fail(
            part,
            format!("returned another shape than {n} heads of {seq} positions of {width}"),
        );
    }
    if !heads.iter().flatten().flatten().all(|number| number.is_finite()) {
        fail(part, "returned numbers that are not finite");
    }
    heads
}
