//! The forward pass on the CPU: vectors in host memory instead of tensors, and a kernel for each
//! operation. What is computed is defined by [`decoder`](super::decoder) and [`gpt2`](super::gpt2).
//!
//! All vectors are row-major. `seq` is the number of positions in the pass, of all sequences.

mod adapted;
mod attention;
mod beside;
mod convolution;
mod delta_rule;
mod experts;
mod gated;
mod gpt2;
mod latent;
mod layer_inputs;
mod llama;

use std::sync::Arc;

use super::adapted::Rows;
use super::config::{Family, ModelConfig};
use super::embedding::Embedding;
use super::network::Output;
use super::pass::Pass;
use super::source::{LoadLinear, Role, Source};
use crate::adapter::{Site, Sites};
use crate::error::Result;
use crate::kernels::{Layer, Panels, recorded};
use gpt2::Gpt2;
pub(super) use llama::Llama;

/// A network with its weights in the layout of the kernels.
#[derive(Debug)]
pub(super) enum Host {
    Llama(Llama),
    Gpt2(Gpt2),
}

/// The stops of a block at which its vectors can be watched, `[seq, width]`: the fields of
/// [`LayerTrace`](super::LayerTrace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    AttentionInput,
    Query,
    Key,
    Value,
    /// As attention takes it, also where the family has no RoPE.
    RotatedQuery,
    /// As attention takes it, also where the family has no RoPE.
    RotatedKey,
    Mixed,
    Attention,
    AfterAttention,
    FeedForwardInput,
    /// The weight of each expert, `[seq, experts]`, where the layer has these. It has no `Gate`, `Up` and
    /// `Gated` then: each token has others.
    Routing,
    Gate,
    Up,
    Gated,
    FeedForward,
    Output,
}

/// Sees the vectors of all stops, in order.
pub(super) type Watch<'a> = dyn FnMut(Stop, &[f32]) + 'a;

impl Host {
    /// Loads the tensors that `config` requires from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        match &config.family {
            Family::Llama(llama) => Llama::load(weights, config, llama).map(Self::Llama),
            Family::Gpt2 => Gpt2::load(weights, config).map(Self::Gpt2),
        }
    }

    /// Runs the network over a row of token ids, `[seq]`, and returns the `output` of the `wanted`
    /// columns.
    pub(super) fn rows(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &mut Pass<'_>,
        output: Output,
    ) -> Vec<Vec<f32>> {
        let hidden = self.hidden_states(row, pass, &mut |_, _| {}); // [seq, d_model]
        let width = hidden.len() / row.len();
        let wanted = wanted.iter().map(|&column| &hidden[column * width..(column + 1) * width]);
        match output {
            Output::HiddenStates => wanted.map(<[f32]>::to_vec).collect(),
            #[cfg(feature = "cube")]
            Output::MostLikely => Vec::new(), // has no such output
            Output::Logits if wanted.len() == 0 => Vec::new(),
            Output::Logits => {
                let rows = wanted.len();
                let logits = self.logits(&wanted.collect::<Vec<_>>().concat(), rows);
                logits.chunks_exact(logits.len() / rows).map(<[f32]>::to_vec).collect()
            }
        }
    }

    /// The linear layers that adapters can change.
    pub(super) fn sites(&self) -> &Arc<Sites> {
        match self {
            Self::Llama(llama) => llama.sites(),
            Self::Gpt2(gpt2) => gpt2.sites(),
        }
    }

    /// The hidden states after the last norm, `[seq, d_model]`.
    pub(super) fn hidden_states(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        match self {
            Self::Llama(llama) => llama.hidden_states(row, pass, watch),
            Self::Gpt2(gpt2) => gpt2.hidden_states(row, pass, watch),
        }
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        match self {
            Self::Llama(llama) => llama.logits(hidden, rows),
            Self::Gpt2(gpt2) => gpt2.logits(hidden, rows),
        }
    }
}

/// A linear layer.
#[derive(Debug)]
struct Linear {
    weights: Panels,
    /// `[out]`
    bias: Option<Vec<f32>>,
    place: Box<Place>,
}

/// Where a linear layer is.
#[derive(Debug)]
struct Place {
    site: Site,
    /// The number of the site, where adapters can change it.
    number: Option<usize>,
}

impl LoadLinear for Linear {
    fn load(
        weights: &dyn Source,
        name: &str,
        shape: [usize; 2],
        role: Role,
        bias: bool,
    ) -> Result<Self> {
        let [matrix, vector] = role.names(name);
        let panels = weights.panels(&matrix, shape, role)?;
        let bias = bias.then(|| weights.numbers(&vector, shape[0], role));
        let (first, total, is_turned) = match role {
            Role::Part { first, total } => (first, total, false),
            Role::HalfOfHead { is_key, head, heads, plain, value_dim } => {
                let (rows, before) = (plain + value_dim, if is_key { 0 } else { plain });
                (head * rows + before, heads * rows, is_key)
            }
            _ => (0, shape[0], false),
        };
        let site = Site { module: name.to_owned(), shape, first, total, is_turned };
        let place = Box::new(Place { site, number: None });
        Ok(Self { weights: panels, bias: bias.transpose()?, place })
    }
}

impl Linear {
    fn layer(&self) -> Layer<'_> {
        Layer { weights: &self.weights, bias: self.bias.as_deref() }
    }
}

/// Numbers the linear layers that adapters can change, and returns where they are.
fn numbered<'a>(linears: impl IntoIterator<Item = &'a mut Linear>) -> Arc<Sites> {
    let number = |(number, linear): (usize, &mut Linear)| {
        linear.place.number = Some(number);
        linear.place.site.clone()
    };
    Arc::new(Sites::new(linears.into_iter().enumerate().map(number).collect()))
}

/// Applies each of `linears` to the same `x`, `[seq, in]`, with what adapters change of them. Each `y` becomes
/// `[seq, out]`.
fn linear<const N: usize>(
    linears: [&Linear; N],
    x: &[f32],
    rows: &Rows,
    mut y: [&mut Vec<f32>; N],
) {
    recorded::linear(linears.map(Linear::layer), x, rows.count, y.each_mut().map(|y| &mut **y));
    if !rows.adapted.is_empty() {
        adapted::adapt(linears, x, rows, y);
    }
}

/// The rows of token ids in an embedding matrix: `[seq, d_model]`.
fn embedding(matrix: &Embedding<Panels>, row: &[u32]) -> Vec<f32> {
    recorded::embedding(&matrix.weight, row.iter().map(|&id| id as usize))
}

/// The head, or the embedding that it is tied to: `[rows, d_model]` -> `[rows, vocab]`.
fn head(
    head: &Option<Linear>,
    embedding: &Embedding<Panels>,
    hidden: &[f32],
    rows: usize,
) -> Vec<f32> {
    let tied = || Layer { weights: &embedding.weight, bias: None };
    let mut logits = Vec::new();
    recorded::linear([head.as_ref().map_or_else(tied, Linear::layer)], hidden, rows, [&mut logits]);
    logits
}

/// A residual connection: adds what a layer computed to its input.
fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}
