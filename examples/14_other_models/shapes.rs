//! Small models with random weights, to count on.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::checkpoint::Weights;
use slowburn::device::{self, DeviceChoice};
use slowburn::model::config::{
    Activation, ExpertNames, Experts, Family, LayerConfig, LlamaConfig, Mlp, RopeConfig,
};
use slowburn::model::{Model, ModelConfig};

use slowburn_examples::cli::Result;

/// The most sequences in a batch.
pub(super) const LARGEST_BATCH: usize = 32;
/// The sizes of a vocabulary, of a text, and of the seed of all of this.
const VOCAB: usize = 512;
const TEXT: usize = 8;
const SEED: u64 = 1;

/// Which layers have a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowPattern {
    Nowhere,
    Everywhere,
    /// In five of six layers, as in Gemma 3.
    FiveOfSix,
}

impl WindowPattern {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Nowhere, Self::Everywhere, Self::FiveOfSix];

    /// What a table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "no window",
            Self::Everywhere => "all layers",
            Self::FiveOfSix => "5 of 6 layers",
        }
    }

    /// Six layers, of which some have this window.
    pub(super) fn layers(self, window: usize) -> Vec<LayerConfig> {
        let layer = |i: usize| LayerConfig {
            window: match self {
                Self::Nowhere => None,
                Self::Everywhere => Some(window),
                Self::FiveOfSix => Some(window).filter(|_| i < 5),
            },
            ..plain()
        };
        (0..6).map(layer).collect()
    }

    /// A small model of six layers.
    ///
    /// # Errors
    /// A device that cannot be opened.
    pub fn model(self, window: usize) -> Result<Model> {
        random(64, 128, self.layers(window))
    }
}

/// A shape of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mixture {
    /// How many experts a layer has.
    pub(super) count: usize,
    /// How many of them a token takes.
    pub(super) per_token: usize,
    /// The inner size of one.
    pub(super) d_ff: usize,
}

impl Mixture {
    /// As many experts as in Mixtral, and as many as in Qwen3-MoE. Both have the same size.
    pub const ALL: [Self; 2] = [
        Self { count: 8, per_token: 2, d_ff: 512 },
        Self { count: 128, per_token: 8, d_ff: 32 },
    ];

    /// The sizes of batches that are counted.
    pub const BATCH_SIZES: [usize; 6] = [1, 2, 4, 8, 16, LARGEST_BATCH];

    /// The model with experts, a dense one that does the same work for a token, and a dense one of the
    /// same size.
    ///
    /// # Errors
    /// A device that cannot be opened.
    pub fn models(self) -> Result<[Model; 3]> {
        self.models_of(128, 6)
    }

    /// As [`models`](Self::models), of so many layers over rows of `d_model` numbers.
    pub(super) fn models_of(self, d_model: usize, n_layers: usize) -> Result<[Model; 3]> {
        let Self { count, per_token, d_ff } = self;
        let experts = Experts::plain(count, per_token, d_ff, ExpertNames::Mlp);
        let with =
            |mlp, d_ff| random(d_model, d_ff, vec![LayerConfig { mlp, ..plain() }; n_layers]);
        Ok([
            with(Mlp::Experts(experts), d_ff)?,
            with(Mlp::Dense, per_token * d_ff)?,
            with(Mlp::Dense, count * d_ff)?,
        ])
    }

    /// Texts of random tokens.
    pub fn texts(count: usize) -> Vec<Vec<u32>> {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut token = || random.next_u32() % VOCAB as u32;
        (0..count).map(|_| (0..TEXT).map(|_| token()).collect()).collect()
    }

    /// How many experts of a layer a batch takes, as expected where all are equally likely.
    pub(super) fn expected(self, batch: usize) -> f64 {
        let passes_by = 1.0 - self.per_token as f64 / self.count as f64;
        self.count as f64 * (1.0 - passes_by.powf(batch as f64))
    }
}

/// A layer of a plain Llama.
fn plain() -> LayerConfig {
    LayerConfig::plain(RopeConfig::new(10_000.0))
}

/// A model with random weights on the CPU, with heads of 16 numbers, two for each head of keys.
pub(super) fn random(d_model: usize, d_ff: usize, layers: Vec<LayerConfig>) -> Result<Model> {
    let (n_layers, n_heads) = (layers.len(), d_model / 16);
    let llama = LlamaConfig { layers, ..LlamaConfig::plain(RopeConfig::new(10_000.0)) };
    let config = ModelConfig {
        family: Family::Llama(llama),
        vocab_size: VOCAB,
        d_model,
        n_layers,
        n_heads,
        n_kv_heads: n_heads / 2,
        head_dim: 16,
        d_ff,
        context_length: 1 << 20,
        norm_eps: 1e-5,
        activation: Activation::Silu,
        tied_head: true,
        bos_token_id: Some(0),
        eos_token_ids: Vec::new(),
    };
    // Counted is what the kernels of the CPU do.
    let device = device::open(DeviceChoice::Cpu)?.device;
    device.seed(SEED);
    Ok(Model::load(config, &Weights::random(&device))?)
}
