//! The hyperparameters of a model.

pub use crate::activation::Activation;
use crate::error::{RequestError, Result};
#[cfg(feature = "burn")]
use crate::kv::StateShape;

/// The hyperparameters of a model, under the same names for all families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The architecture, with the hyperparameters that only its family has.
    pub family: Family,
    /// The number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// The length of a hidden state (`hidden_size`).
    pub d_model: usize,
    /// The number of transformer blocks.
    pub n_layers: usize,
    /// How many query heads each block has.
    pub n_heads: usize,
    /// How many key/value heads; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The length of one head's query, key and value.
    pub head_dim: usize,
    /// The inner size of the feed-forward network (`intermediate_size`).
    pub d_ff: usize,
    /// The context length: the most tokens in a sequence (`max_position_embeddings`).
    pub context_length: usize,
    /// The epsilon of the norms, which avoids a division by zero.
    pub norm_eps: f64,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// Whether the head reuses the embedding matrix.
    pub tied_head: bool,
    /// The begin-of-sequence token, if the model has one.
    pub bos_token_id: Option<u32>,
    /// The end-of-sequence tokens.
    pub eos_token_ids: Vec<u32>,
}

/// The model families that this crate implements.
#[derive(Debug, Clone, PartialEq)]
pub enum Family {
    /// RMSNorm, RoPE, grouped-query attention, gated feed-forward networks: `llama`, `mistral`,
    /// `mixtral`, `ministral3`, `qwen2`, `qwen3`, `qwen3_moe`, `gemma3_text`, `smollm3`, `phi3`,
    /// `olmo3`, `granite`, `gpt_oss`, `deepseek_v2`, `deepseek_v3`, `glm4_moe_lite`, `lfm2`,
    /// `lfm2_moe`, `qwen3_next`, `qwen3_5_text`, `qwen3_5_moe_text`, `gemma4_text`,
    /// `gemma4_unified_text`.
    Llama(LlamaConfig),
    /// LayerNorm, learned positions, multi-head attention, a plain feed-forward network:
    /// `gpt2`.
    Gpt2,
}

/// The differences between the members of the Llama family: what each layer does, and what all of them
/// have in common. The network reads no name of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct LlamaConfig {
    /// What the layers do, as a pattern that repeats: layer `i` is as entry `i % layers.len()` says.
    /// There is at least one.
    pub layers: Vec<LayerConfig>,
    /// Whether the query, key and value projections have biases.
    pub qkv_bias: bool,
    /// Whether the output projection of attention has a bias.
    pub o_bias: bool,
    /// Whether the feed-forward network has biases.
    pub mlp_bias: bool,
    /// Keys and values as one latent vector for all heads. None: a matrix of each.
    pub latent: Option<LatentConfig>,
    /// Whether what a query takes up is multiplied by a gate, which the projection of queries has too.
    pub attention_gate: bool,
    /// Whether each head has a score that takes part in its softmax, and no value (attention sink).
    pub sinks: bool,
    /// Whether queries and keys are normalized by an RMSNorm (QK-norm).
    pub qk_norm: Option<QkNorm>,
    /// Whether values are normalized as keys are, without weights.
    pub value_norm: bool,
    /// Embeddings of each layer besides those of the model (per-layer embeddings; Gemma 3n).
    pub layer_embedding: Option<LayerEmbedding>,
    /// Whether what leaves a layer is multiplied by a number.
    pub layer_scale: bool,
    /// Whether a norm multiplies by `1 + weight`, with weights around 0, instead of by `weight`.
    pub one_plus_norms: bool,
    /// Whether the checkpoint has the query, key and value projections as one matrix, and the gate and
    /// up projections as another.
    pub fused: bool,
    /// What embeddings are multiplied by.
    pub embedding_scale: Option<f64>,
    /// What scores are multiplied by: `1 / sqrt(head_dim)`, where it is none.
    pub attention_scale: Option<f64>,
    /// What attention and the feed-forward network add to the residual stream is multiplied by this.
    pub residual_scale: Option<f64>,
    /// What logits are multiplied by.
    pub logit_scale: Option<f64>,
    /// Bounds the scores of attention: `cap * tanh(score / cap)`.
    pub attention_softcap: Option<f64>,
    /// Bounds the logits in the same way.
    pub logit_softcap: Option<f64>,
}

/// Latent attention (MLA; DeepSeek-V2, arXiv 2405.04434): the keys and values of all heads come from one short
/// vector of each position. `head_dim` is that of queries and keys; what RoPE rotates of a key is the same in
/// all heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatentConfig {
    /// The length of the vector that queries come from (`q_lora_rank`). None: hidden states.
    pub query_rank: Option<usize>,
    /// The length of the vector that keys and values come from (`kv_lora_rank`).
    pub rank: usize,
    /// The length of a head's value, at most `head_dim`.
    pub value_dim: usize,
    /// Whether the checkpoint has the two numbers that RoPE pairs next to each other.
    pub interleaved: bool,
}

/// Embeddings of which each layer has one for each token, besides hidden states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerEmbedding {
    /// How many tokens have them, at least those of the vocabulary.
    pub tokens: usize,
    /// Their length in a layer.
    pub width: usize,
}

/// What the RMSNorm of queries and keys takes as one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    /// Each head.
    Head,
    /// All heads of a position.
    Projection,
}

// ANCHOR: layer_config
/// What a layer does, where the layers of a model, or the models of the family, differ.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerConfig {
    /// What moves information between positions.
    pub mixer: Mixer,
    /// How many positions a query attends to, up to its own and with it. None: all of them.
    pub window: Option<usize>,
    /// How queries and keys are rotated. None: not at all (NoPE).
    pub rope: Option<RopeConfig>,
    /// Where the norms are.
    pub norms: Norms,
    /// What follows attention.
    pub mlp: Mlp,
    /// The heads of its keys and values, where they are not those of the model.
    pub heads: Option<KvHeads>,
    /// Where its keys and values come from.
    pub source: KvSource,
    /// The inner size of its feed-forward network, where it is not that of the model.
    pub d_ff: Option<usize>,
}
// ANCHOR_END: layer_config

/// The heads of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvHeads {
    /// How many there are.
    pub n_kv_heads: usize,
    /// The length of a key or a value, and of a query.
    pub head_dim: usize,
    /// Whether values are keys, and nothing else is kept: one vector for all heads, of which attention takes up the
    /// latent part (latent attention).
    pub is_latent: bool,
}

impl KvHeads {
    /// With keys and values of each head.
    pub const fn new(n_kv_heads: usize, head_dim: usize) -> Self {
        Self { n_kv_heads, head_dim, is_latent: false }
    }

    /// How many numbers are kept of a position.
    pub const fn numbers(self) -> usize {
        let keys = self.n_kv_heads * self.head_dim;
        if self.is_latent { keys } else { 2 * keys }
    }
}

/// Where the keys and values of a layer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvSource {
    /// A matrix of each.
    Own,
    /// One matrix for both: values are keys before their norm and RoPE.
    Keys,
    /// They are those of this earlier layer, which has the same heads.
    Layer(usize),
}

/// What moves information between the positions of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixer {
    /// Attention to the keys and values of earlier positions.
    Attention,
    /// A short convolution, whose state are the last inputs (LFM2).
    Convolution(Convolution),
    /// The gated delta rule, whose state is a matrix for each head (Qwen 3.5).
    DeltaRule(DeltaRule),
}

/// A gated short convolution: each number of a position is a sum of products with those of the last few positions,
/// by weights of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// How many positions take part, with its own.
    pub width: usize,
    /// Whether its matrices and the convolution have biases.
    pub bias: bool,
}

/// The heads of the gated delta rule, each with a state that maps keys to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaRule {
    /// How many heads have queries and keys; each serves `value_heads / key_heads` value heads.
    pub key_heads: usize,
    /// How many heads have values, and a state.
    pub value_heads: usize,
    /// The length of a query or a key.
    pub key_dim: usize,
    /// The length of a value.
    pub value_dim: usize,
    /// How many positions take part in the convolution of queries, keys and values.
    pub width: usize,
}

/// Where the norms of a layer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norms {
    /// Before attention, and before the feed-forward network.
    Before,
    /// Before each of them and after it, ahead of the residual connection.
    Around,
    /// Only after each of them, ahead of the residual connection.
    After,
}

/// What transforms each position after attention.
#[derive(Debug, Clone, PartialEq)]
pub enum Mlp {
    /// One feed-forward network, of the model's `d_ff`.
    Dense,
    /// Several, of which each token takes a few (mixture of experts).
    Experts(Experts),
    /// Both: a feed-forward network, and experts beside it. Each has norms of its own (Gemma 4).
    Beside(Experts),
}

/// The experts of a layer, and how tokens are sent to them (Shazeer et al., arXiv 1701.06538).
#[derive(Debug, Clone, PartialEq)]
pub struct Experts {
    /// How many there are.
    pub count: usize,
    /// How many each token takes.
    pub per_token: usize,
    /// The inner size of each.
    pub d_ff: usize,
    /// Whether the weights of those that a token takes are scaled so that their sum is 1.
    pub renormalized: bool,
    /// What is added to that sum first, so that it is never 0.
    pub least_sum: f64,
    /// What the weights of those that a token takes are multiplied by.
    pub scale: f64,
    /// How the score of an expert becomes its weight.
    pub gate: ExpertGate,
    /// Whether the router has a correction for each expert, which is added to its weight for the
    /// choice alone.
    pub corrected: bool,
    /// Groups of experts, of which each token takes a few before it takes experts of these.
    pub groups: Option<ExpertGroups>,
    /// The inner size of an expert that every token takes besides.
    pub shared: Option<usize>,
    /// Whether that expert has a gate.
    pub shared_gate: bool,
    /// Whether router and experts have biases.
    pub bias: bool,
    /// Whether the weight of each expert is multiplied by a number of its own.
    pub factors: bool,
    /// What the checkpoint calls their tensors.
    pub names: ExpertNames,
}

impl Experts {
    /// Experts of a plain router: softmax, of all of them.
    pub fn plain(count: usize, per_token: usize, d_ff: usize, names: ExpertNames) -> Self {
        Self {
            count,
            per_token,
            d_ff,
            renormalized: true,
            least_sum: 0.0,
            scale: 1.0,
            gate: ExpertGate::Softmax,
            corrected: false,
            groups: None,
            shared: None,
            shared_gate: false,
            bias: false,
            factors: false,
            names,
        }
    }
}

/// How the score of an expert becomes its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpertGate {
    /// By the softmax of all scores.
    Softmax,
    /// By the sigmoid of its own.
    Sigmoid,
}

/// How a token takes groups of experts (DeepSeek-V2, arXiv 2405.04434).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpertGroups {
    /// How many there are, of the same size.
    pub count: usize,
    /// How many each token takes.
    pub per_token: usize,
    /// A group is as good as so many of its best experts together.
    pub best: usize,
}

/// What a checkpoint calls the tensors of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpertNames {
    /// `mlp.experts.3.up_proj`, with the router `mlp.gate`.
    Mlp,
    /// `block_sparse_moe.experts.3.w3`, with the router `block_sparse_moe.gate`.
    BlockSparse,
    /// As `Mlp`, with the matrices of all experts in one tensor, `mlp.experts.up_proj`.
    Stacked,
    /// As `Stacked`, with gate and up one after the other in `mlp.experts.gate_up_proj`.
    Joined,
    /// As `Stacked`, with the matrices as `[in, out]`, and gate and up in turns in `mlp.experts.gate_up_proj`. The
    /// router is `mlp.router`.
    Interleaved,
    /// As `Joined`, outside of `mlp`: `experts.gate_up_proj`, with the router `router.proj`.
    Outside,
}

/// The frequencies of RoPE.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeConfig {
    /// The base of the frequencies (`rope_theta`).
    pub theta: f64,
    /// How many numbers of a head are rotated, from its first on. None: all of them.
    pub rotated: Option<usize>,
    /// The scaling that extends the context beyond the training length.
    pub scaling: RopeScaling,
    /// What cosines and sines are multiplied by (`attention_factor`): 1, but for scalings that also
    /// sharpen attention.
    pub attention_factor: f64,
    /// How queries grow with their position. None: not at all.
    pub query_growth: Option<QueryGrowth>,
}

/// Sharpens attention far into a text (Llama 4): the query at position `p` is multiplied by
/// `1 + beta * ln(1 + floor(p / original_context))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryGrowth {
    /// How fast it grows (`llama_4_scaling_beta`).
    pub beta: f64,
    /// Positions before this one are multiplied by 1 (`original_max_position_embeddings`).
    pub original_context: f64,
}

impl RopeConfig {
    /// Whole heads, without scaling.
    pub const fn new(theta: f64) -> Self {
        Self {
            theta,
            rotated: None,
            scaling: RopeScaling::None,
            attention_factor: 1.0,
            query_growth: None,
        }
    }
}

/// Ways to scale RoPE to a longer context.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// No scaling (`default`).
    None,
    /// All wavelengths are multiplied by `factor` (`linear`; Chen et al., arXiv 2306.15595).
    Linear { factor: f64 },
    /// As `Linear`, and only so many pairs of a head turn, from its first on (`proportional`; Gemma 4). Unlike where
    /// a part of a head is `rotated`, the two numbers of a pair are half a head apart.
    Proportional { factor: f64, pairs: usize },
    /// Each wavelength is multiplied by a factor of its own, `[rotated / 2]` (`longrope`; Ding et al.,
    /// arXiv 2402.13753), as GGUF files also store the outcome of `llama3`.
    Factors(Vec<f32>),
    /// Long wavelengths are multiplied by `factor`, short ones are kept, those between are
    /// interpolated (`llama3`; Grattafiori et al., The Llama 3 Herd of Models, arXiv 2407.21783).
    Llama3 {
        factor: f64,
        /// A wavelength is long when fewer periods than this fit into the original context.
        low_freq_factor: f64,
        /// A wavelength is short when more periods than this fit.
        high_freq_factor: f64,
        /// The context length before scaling, in tokens (`original_max_position_embeddings`).
        original_context: f64,
    },
    /// As `Llama3`, with an interpolation that is linear in the number of the pair
    /// (`yarn`; Peng et al., arXiv 2309.00071).
    Yarn {
        factor: f64,
        /// A wavelength is short when more periods than this fit into the original context.
        beta_fast: f64,
        /// A wavelength is long when fewer periods than this fit.
        beta_slow: f64,
        /// The context length before scaling, in tokens (`original_max_position_embeddings`).
        original_context: f64,
        /// Whether the pairs at which the interpolation begins and ends are whole numbers.
        truncate: bool,
    },
}

impl LayerConfig {
    /// A layer that attends to the whole sequence, as all layers of a Llama.
    pub fn plain(rope: RopeConfig) -> Self {
        Self {
            mixer: Mixer::Attention,
            window: None,
            rope: Some(rope),
            norms: Norms::Before,
            mlp: Mlp::Dense,
            heads: None,
            source: KvSource::Own,
            d_ff: None,
        }
    }

    /// Whether it has keys and values of its own.
    fn keeps(&self) -> bool {
        self.mixer == Mixer::Attention && !matches!(self.source, KvSource::Layer(_))
    }
}

impl LlamaConfig {
    /// A Llama without optional features, all of whose layers attend to the whole sequence.
    pub fn plain(rope: RopeConfig) -> Self {
        Self {
            layers: vec![LayerConfig::plain(rope)],
            qkv_bias: false,
            o_bias: false,
            mlp_bias: false,
            latent: None,
            attention_gate: false,
            sinks: false,
            qk_norm: None,
            value_norm: false,
            layer_embedding: None,
            layer_scale: false,
            one_plus_norms: false,
            fused: false,
            embedding_scale: None,
            attention_scale: None,
            residual_scale: None,
            logit_scale: None,
            attention_softcap: None,
            logit_softcap: None,
        }
    }

    /// What scores are multiplied by where they are divided by the square root of `scalar`. Taken in
    /// f32, as [`Scoring::new`](crate::kernels::Scoring::new) takes it.
    #[cfg(feature = "burn")]
    pub(crate) fn inverse_root(scalar: f64) -> f64 {
        f64::from(1.0 / (scalar as f32).sqrt())
    }

    /// What layer `index` does.
    pub fn layer(&self, index: usize) -> &LayerConfig {
        &self.layers[index % self.layers.len()]
    }

    /// Which of the layers that have keys and values of their own has those that layer `index` reads.
    #[cfg(feature = "burn")]
    pub(super) fn kv_layer(&self, index: usize) -> usize {
        let source = match self.layer(index).source {
            KvSource::Layer(source) => source,
            KvSource::Own | KvSource::Keys => index,
        };
        (0..source).filter(|&i| self.layer(i).keeps()).count()
    }

    /// Whether another layer reads the keys and values of layer `index`.
    #[cfg(feature = "burn")]
    pub(super) fn is_source(&self, index: usize) -> bool {
        self.layers.iter().any(|layer| layer.source == KvSource::Layer(index))
    }

    /// How many of the first `layers` layers have a state instead of keys and values.
    #[cfg(feature = "burn")]
    pub(super) fn state_layers(&self, layers: usize) -> usize {
        (0..layers).filter(|&i| self.layer(i).mixer != Mixer::Attention).count()
    }

    /// The positions that a sequence must keep, up to its next one: the widest window, if no layer
    /// attends to the whole sequence.
    pub fn window(&self) -> Option<usize> {
        let attention = self.layers.iter().filter(|layer| layer.mixer == Mixer::Attention);
        let windows = attention.map(|layer| layer.window);
        windows.reduce(|a, b| Some(a?.max(b?))).flatten()
    }
}

impl ModelConfig {
    /// The positions that a sequence must keep, up to its next one and with it, if no layer reads all
    /// of them.
    pub fn window(&self) -> Option<usize> {
        match &self.family {
            Family::Llama(llama) => llama.window(),
            Family::Gpt2 => None,
        }
    }

    /// The heads of keys and values that layer `index` attends to. With latent attention, what the CPU keeps: other
    /// devices keep keys and values of each head.
    pub fn kv_heads(&self, index: usize) -> KvHeads {
        let Family::Llama(LlamaConfig { latent: Some(latent), layers, .. }) = &self.family else {
            return self.whole_heads(index);
        };
        let rotated = layers[0].rope.as_ref().and_then(|rope| rope.rotated);
        let head_dim = latent.rank.saturating_add(rotated.unwrap_or(self.head_dim));
        KvHeads { n_kv_heads: 1, head_dim, is_latent: true }
    }

    /// The heads of queries, keys and values of layer `index`, with keys and values of each head.
    pub(crate) fn whole_heads(&self, index: usize) -> KvHeads {
        let own = match &self.family {
            Family::Llama(llama) => llama.layer(index).heads,
            Family::Gpt2 => None,
        };
        own.unwrap_or(KvHeads::new(self.n_kv_heads, self.head_dim))
    }

    /// The heads of each layer that has keys and values of its own.
    pub fn kv_layers(&self) -> Vec<KvHeads> {
        let keeps = |i: &usize| match &self.family {
            Family::Llama(llama) => llama.layer(*i).keeps(),
            Family::Gpt2 => true,
        };
        (0..self.n_layers).filter(keeps).map(|i| self.kv_heads(i)).collect()
    }

    /// The same on a device without the kernels of the CPU.
    #[cfg(feature = "burn")]
    pub(super) fn whole_kv_layers(&self) -> Vec<KvHeads> {
        let whole = KvHeads::new(self.n_kv_heads, self.head_dim);
        let layers = self.kv_layers().into_iter();
        layers.map(|heads| if heads.is_latent { whole } else { heads }).collect()
    }

    /// Whether any layer has keys and values of its own. Asked before anything of the model is loaded, so a
    /// number of layers that no file can have takes no memory.
    #[cfg(feature = "burn")]
    pub(crate) fn has_kv_layers(&self) -> bool {
        match &self.family {
            Family::Llama(llama) => llama.layers.iter().take(self.n_layers).any(LayerConfig::keeps),
            Family::Gpt2 => self.n_layers > 0,
        }
    }

    /// Whether a checkpoint may have a tensor of this name for a layer without keys and values of its own, from
    /// training, which no pass reads.
    #[cfg(feature = "burn")]
    pub(super) fn is_of_shared_layer(&self, tensor: &str) -> bool {
        const PARTS: [&str; 4] = ["k_proj", "v_proj", "k_norm", "v_norm"];
        let Family::Llama(llama) = &self.family else {
            return false;
        };
        let mut words = tensor.split('.').skip_while(|word| *word != "layers").skip(1);
        let index = words.next().and_then(|word| word.parse().ok());
        let is_part = words.next() == Some("self_attn")
            && words.next().is_some_and(|word| PARTS.contains(&word));
        let is_shared = |i| matches!(llama.layer(i).source, KvSource::Layer(_));
        is_part && index.is_some_and(is_shared)
    }

    /// What the layers remember that have no keys and values.
    #[cfg(feature = "burn")]
    pub(crate) fn states(&self) -> Vec<StateShape> {
        let Family::Llama(llama) = &self.family else {
            return Vec::new();
        };
        let states = (0..self.n_layers).filter_map(|i| match llama.layer(i).mixer {
            Mixer::Attention => None,
            Mixer::Convolution(convolution) => Some(convolution.state(self.d_model)),
            Mixer::DeltaRule(rule) => Some(rule.state()),
        });
        states.collect()
    }

    /// The weights of the matrices of attention, or of what a layer has instead: what moves information between
    /// positions in layer `index`.
    pub fn mixing_weights(&self, index: usize) -> usize {
        let (d_model, mixer) = match &self.family {
            Family::Llama(llama) => (self.d_model, llama.layer(index).mixer),
            Family::Gpt2 => (self.d_model, Mixer::Attention),
        };
        match mixer {
            Mixer::Attention => self.attention_weights(index),
            Mixer::Convolution(convolution) => d_model * (4 * d_model + convolution.width),
            Mixer::DeltaRule(DeltaRule { key_heads, value_heads, key_dim, value_dim, width }) => {
                let (keys, values) = (key_heads * key_dim, value_heads * value_dim);
                let channels = 2 * keys + values;
                d_model * (channels + 2 * values + 2 * value_heads) + channels * width
            }
        }
    }

    fn attention_weights(&self, index: usize) -> usize {
        let &Self { d_model, n_heads, .. } = self;
        let KvHeads { n_kv_heads, head_dim, .. } = self.whole_heads(index);
        let latent = match &self.family {
            Family::Llama(llama) => llama.latent.zip(llama.layers[0].rope.as_ref()),
            Family::Gpt2 => None,
        };
        let Some((latent, rope)) = latent else {
            let has_gate = matches!(&self.family, Family::Llama(llama) if llama.attention_gate);
            let gates = if has_gate {
                d_model * head_dim * n_heads
            } else {
                0
            };
            let kv_matrices = match &self.family {
                Family::Llama(llama) => match llama.layer(index).source {
                    KvSource::Own => 2,
                    KvSource::Keys => 1,
                    KvSource::Layer(_) => 0,
                },
                Family::Gpt2 => 2,
            };
            return d_model * head_dim * (2 * n_heads + kv_matrices * n_kv_heads) + gates;
        };
        let (queries, rotated) = (n_heads * head_dim, rope.rotated.unwrap_or(head_dim));
        let of_queries = match latent.query_rank {
            Some(rank) => rank * (d_model + queries),
            None => d_model * queries,
        };
        let of_keys = latent.rank * n_heads * (head_dim - rotated + latent.value_dim);
        let down = d_model * (latent.rank + rotated);
        of_queries + down + of_keys + d_model * n_heads * latent.value_dim
    }

    /// As [`Model::check_prompt`](super::Model::check_prompt).
    pub(super) fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.check_ids(prompt)?;
        self.check_length(prompt)
    }

    pub(super) fn check_ids(&self, ids: &[u32]) -> Result<()> {
        let vocab_size = self.vocab_size;
        if ids.is_empty() {
            return Err(RequestError::EmptyPrompt.into());
        }
        match ids.iter().find(|&&id| id as usize >= vocab_size) {
            Some(&id) => Err(RequestError::TokenOutOfRange { id, vocab_size }.into()),
            None => Ok(()),
        }
    }

    pub(super) fn check_length(&self, ids: &[u32]) -> Result<()> {
        let (prompt, context) = (ids.len(), self.context_length);
        if prompt > context {
            return Err(RequestError::PromptTooLong { prompt, context }.into());
        }
        Ok(())
    }
}
