//! Mixture of experts: several feed-forward networks, of which each token takes a few (Shazeer et al.,
//! arXiv 1701.06538; Fedus et al., Switch Transformers, arXiv 2101.03961).

use burn::module::Module;
use burn::tensor::{DType, IndexingUpdateOp, Tensor, activation::softmax, s};

use super::config::{self, ExpertNames, ModelConfig};
use super::feed_forward::FeedForward;
use super::linear::Linear;
use super::source::{Columns, Role, Source};
use crate::error::Result;

/// The experts of a layer, and the router that chooses among them.
#[derive(Module, Debug)]
pub struct Experts {
    router: Linear,
    experts: Vec<FeedForward>,
    per_token: usize,
    renormalized: bool,
}

impl Experts {
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        experts: &config::Experts,
    ) -> Result<Self> {
        let (router, networks) = experts.load(
            (layer, config.d_model),
            |name, shape| Linear::load(weights, name, shape, Role::Router, experts.bias),
            |places| FeedForward::load_from(weights, places, config, experts.d_ff, experts.bias),
        )?;
        Ok(Self {
            router,
            experts: networks,
            per_token: experts.per_token,
            renormalized: experts.renormalized,
        })
    }

    // ANCHOR: forward
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    ///
    /// This is the definition: each expert computes all tokens, and its result counts where it was
    /// chosen. The kernels compute only what counts.
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let routing = self.routing(x.clone()); // [batch, seq, experts]
        let outputs = self.experts.iter().enumerate().map(|(i, expert)| {
            let weight = routing.clone().slice(s![.., .., i..=i]); // [batch, seq, 1]
            let is_idle = weight.clone().equal_elem(0.0);
            let y = expert.forward(x.clone());
            let is_idle = is_idle.expand(y.dims());
            (y * weight).mask_fill(is_idle, 0.0)
        });
        outputs.fold(x.zeros_like(), |sum, y| sum + y)
    }
    // ANCHOR_END: forward

    // ANCHOR: routing
    /// The weight of each expert for each token: `[batch, seq, experts]`. Those that a token does not
    /// take have 0.
    pub fn routing(&self, x: Tensor<3>) -> Tensor<3> {
        let dtype = x.dtype();
        let shares = softmax(self.router.forward(x).cast(DType::F32), 2);
        let (weights, chosen) = shares.clone().topk_with_indices(self.per_token, 2);
        let weights = if self.renormalized {
            weights.clone() / weights.sum_dim(2)
        } else {
            weights
        };
        shares.zeros_like().scatter(2, chosen, weights, IndexingUpdateOp::Add).cast(dtype)
    }
    // ANCHOR_END: routing
}

impl ExpertNames {
    /// The name of the router in a layer.
    fn router(self) -> &'static str {
        match self {
            Self::Mlp | Self::Stacked => "mlp.gate",
            Self::BlockSparse => "block_sparse_moe.gate",
            Self::Interleaved => "mlp.router",
        }
    }
}

impl config::Experts {
    /// The router and the experts of a layer: `router` loads a matrix of a name and a shape, and `expert`
    /// a network of the gate, up and down projections at these places.
    pub(super) fn load<R, E>(
        &self,
        (layer, d_model): (&str, usize),
        router: impl FnOnce(&str, [usize; 2]) -> Result<R>,
        expert: impl Fn([(String, Role); 3]) -> Result<E>,
    ) -> Result<(R, Vec<E>)> {
        let name = format!("{layer}.{}", self.names.router());
        let router = router(&name, [self.count, d_model])?;
        let experts = (0..self.count).map(|i| expert(self.places(layer, i, d_model)));
        Ok((router, experts.collect::<Result<_>>()?))
    }

    /// Where a checkpoint has the gate, up and down projections of expert `index`.
    fn places(&self, layer: &str, index: usize, d_model: usize) -> [(String, Role); 3] {
        let rows = [self.d_ff, self.d_ff, d_model];
        let names = match self.names {
            ExpertNames::Mlp | ExpertNames::Stacked => ["gate_proj", "up_proj", "down_proj"],
            ExpertNames::BlockSparse => ["w1", "w3", "w2"],
            ExpertNames::Interleaved => ["gate_up_proj", "gate_up_proj", "down_proj"],
        };
        std::array::from_fn(|i| {
            let (name, rows) = (names[i], rows[i]);
            match self.names {
                ExpertNames::Mlp => (format!("{layer}.mlp.experts.{index}.{name}"), Role::Layer),
                ExpertNames::BlockSparse => {
                    let name = format!("{layer}.block_sparse_moe.experts.{index}.{name}");
                    (name, Role::Layer)
                }
                ExpertNames::Stacked => {
                    let role = Role::Part { first: index * rows, total: self.count * rows };
                    (format!("{layer}.mlp.experts.{name}"), role)
                }
                ExpertNames::Interleaved => {
                    let [first, step] = [[0, 2], [1, 2], [0, 1]][i];
                    let role = Role::Columns(Columns { index, count: self.count, first, step });
                    (format!("{layer}.mlp.experts.{name}"), role)
                }
            }
        })
    }
}
