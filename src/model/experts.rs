//! Mixture of experts: a layer has several feed-forward networks, and each token takes a few (Shazeer et al.,
//! arXiv 1701.06538; Fedus et al., Switch Transformers, arXiv 2101.03961).

use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{DType, IndexingUpdateOp, Tensor, s};

use super::config::{self, ExpertGate, ExpertGroups, ExpertNames, ModelConfig};
use super::feed_forward::FeedForward;
use super::linear::Linear;
use super::source::{Columns, LoadLinear, LoadVector, Role, Source};
use crate::error::Result;

/// The experts of a layer, and the router that chooses among them.
#[derive(Module, Debug)]
pub struct Experts<L = Linear, V = Param<Tensor<1>>> {
    pub(super) router: L,
    pub(super) experts: Vec<FeedForward<L>>,
    /// One that every token takes.
    pub(super) shared: Option<FeedForward<L>>,
    /// What decides how much of it counts: `[1, d_model]`.
    pub(super) shared_gate: Option<L>,
    /// `[experts]`: what is added to the weights for the choice alone.
    pub(super) correction: Option<V>,
    /// `[experts]`: what the weights of those that are taken are multiplied by.
    pub(super) factors: Option<V>,
    #[module(skip)]
    pub(super) config: config::Experts,
}

impl<L: LoadLinear, V: LoadVector> Experts<L, V> {
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        experts: &config::Experts,
    ) -> Result<Self> {
        let experts = experts.named_in(weights, layer);
        let (d_model, bias) = (config.d_model, experts.bias);
        let router = |name: &str, rows| {
            let name = format!("{layer}.{name}");
            L::load(weights, &name, [rows, d_model], Role::Router, bias)
        };
        let expert = |places, d_ff| FeedForward::load_from(weights, places, config, d_ff, bias);
        let vector = |name: String| V::load(weights, &name, experts.count);
        let shared = ["gate_proj", "up_proj", "down_proj"].map(|part| {
            let name = if experts.shared_gate {
                "shared_expert"
            } else {
                "shared_experts"
            };
            (format!("{layer}.mlp.{name}.{part}"), Role::Layer)
        });
        let place = |i| expert(experts.places(layer, i, d_model), experts.d_ff);
        let correction =
            || vector(format!("{layer}.{}.e_score_correction_bias", experts.names.router()));
        Ok(Self {
            router: router(experts.names.router(), experts.count)?,
            experts: (0..experts.count).map(place).collect::<Result<_>>()?,
            shared: experts.shared.map(|d_ff| expert(shared, d_ff)).transpose()?,
            shared_gate: {
                let gate = || router("mlp.shared_expert_gate", 1);
                experts.shared_gate.then(gate).transpose()?
            },
            correction: experts.corrected.then(correction).transpose()?,
            factors: {
                let factors = || vector(format!("{layer}.router.per_expert_scale"));
                experts.factors.then(factors).transpose()?
            },
            config: experts,
        })
    }
}

impl Experts {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    ///
    /// This is the definition: each expert computes all tokens, and its result counts where it was
    /// chosen. The kernels compute only what counts.
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let routing = self.routing(x.clone()); // [batch, seq, experts]
        self.mixed(x, routing)
    }

    /// As [`forward`](Self::forward), by weights that were computed before.
    pub(super) fn mixed(&self, x: Tensor<3>, routing: Tensor<3>) -> Tensor<3> {
        let outputs = self.experts.iter().enumerate().map(|(i, expert)| {
            let weight = routing.clone().slice(s![.., .., i..=i]); // [batch, seq, 1]
            let is_idle = weight.clone().equal_elem(0.0);
            let y = expert.forward(x.clone());
            let is_idle = is_idle.expand(y.dims());
            (y * weight).mask_fill(is_idle, 0.0)
        });
        let sum = outputs.fold(x.zeros_like(), |sum, y| sum + y);
        match (&self.shared, &self.shared_gate) {
            (Some(shared), Some(gate)) => {
                sum + sigmoid(gate.forward(x.clone())) * shared.forward(x) // [batch, seq, 1] times it
            }
            (Some(shared), None) => sum + shared.forward(x),
            (None, _) => sum,
        }
    }

    /// The weight of each expert for each token: `[batch, seq, experts]`. Those that a token does not
    /// take have 0.
    pub fn routing(&self, x: Tensor<3>) -> Tensor<3> {
        let dtype = x.dtype();
        let scores = self.router.forward(x).cast(DType::F32);
        let shares = match self.config.gate {
            ExpertGate::Softmax => softmax(scores, 2),
            ExpertGate::Sigmoid => sigmoid(scores),
        };
        let corrected = match &self.correction {
            Some(correction) => shares.clone() + correction.val().cast(DType::F32).unsqueeze(),
            None => shares.clone(),
        };
        let of_groups = self.of_best_groups(corrected);
        let (_, chosen) = of_groups.topk_with_indices(self.config.per_token, 2);
        let weights = shares.clone().gather(2, chosen.clone());
        let weights = if self.config.renormalized {
            weights.clone() / (weights.sum_dim(2) + self.config.least_sum)
        } else {
            weights
        };
        let weights = weights * self.config.scale;
        let weights = shares.zeros_like().scatter(2, chosen, weights, IndexingUpdateOp::Add);
        let weights = match &self.factors {
            Some(factors) => weights * factors.val().cast(DType::F32).unsqueeze(),
            None => weights,
        };
        weights.cast(dtype)
    }

    /// What is worse than all numbers, but for the experts of the groups that a token takes:
    /// `[batch, seq, experts]`.
    fn of_best_groups(&self, weights: Tensor<3>) -> Tensor<3> {
        let Some(ExpertGroups { count, per_token, best }) = self.config.groups else {
            return weights;
        };
        let shape = weights.dims();
        let [batch, seq, experts] = shape;
        let grouped = [batch, seq, count, experts / count];
        let worth = weights.clone().reshape(grouped).topk(best, 3).sum_dim(3); // [batch, seq, count, 1]
        let worth = worth.reshape([batch, seq, count]);
        let (_, taken) = worth.clone().topk_with_indices(per_token, 2);
        let ones = taken.clone().float();
        let is_taken =
            worth.zeros_like().scatter(2, taken, ones.ones_like(), IndexingUpdateOp::Add);
        let is_left = is_taken.equal_elem(0.0).reshape([batch, seq, count, 1]).expand(grouped);
        weights.mask_fill(is_left.reshape(shape), f32::NEG_INFINITY)
    }
}

impl ExpertNames {
    /// The name of the router in a layer.
    fn router(self) -> &'static str {
        match self {
            Self::Mlp | Self::Stacked | Self::Joined => "mlp.gate",
            Self::BlockSparse => "block_sparse_moe.gate",
            Self::Interleaved => "mlp.router",
            Self::Outside => "router.proj",
        }
    }
}

impl config::Experts {
    /// The same, with the names that a checkpoint has: some have all experts of a layer in one tensor, where others
    /// of the family have a tensor of each.
    pub(super) fn named_in(&self, weights: &dyn Source, layer: &str) -> Self {
        let is_joined = self.names == ExpertNames::Mlp
            && weights.has(&format!("{layer}.mlp.experts.gate_up_proj"));
        let names = if is_joined {
            ExpertNames::Joined
        } else {
            self.names
        };
        Self { names, ..self.clone() }
    }

    /// Where a checkpoint has the gate, up and down projections of expert `index`.
    fn places(&self, layer: &str, index: usize, d_model: usize) -> [(String, Role); 3] {
        let rows = [self.d_ff, self.d_ff, d_model];
        let names = match self.names {
            ExpertNames::Mlp | ExpertNames::Stacked => ["gate_proj", "up_proj", "down_proj"],
            ExpertNames::BlockSparse => ["w1", "w3", "w2"],
            ExpertNames::Joined | ExpertNames::Interleaved | ExpertNames::Outside => {
                ["gate_up_proj", "gate_up_proj", "down_proj"]
            }
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
                ExpertNames::Joined | ExpertNames::Outside => {
                    let [first, rows] =
                        [[0, 2 * self.d_ff], [self.d_ff, 2 * self.d_ff], [0, d_model]][i];
                    let role = Role::OneOf { index, count: self.count, first, rows };
                    let part = match self.names {
                        ExpertNames::Outside => "experts",
                        _ => "mlp.experts",
                    };
                    (format!("{layer}.{part}.{name}"), role)
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
