//! `config.json` of LFM2: short convolutions in most layers, and attention in the others.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file::given;
use super::llama::{Defaults, FULL, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::{
    Convolution, ExpertGate, ExpertNames, Experts, LayerConfig, Mixer, Mlp, QkNorm,
};

const CONVOLUTION: &str = "conv";

/// The fields that only this family has, or reads otherwise.
#[derive(Debug, Deserialize)]
struct Lfm2File {
    norm_eps: Option<f64>,
    conv_bias: Option<bool>,
    #[serde(rename = "conv_L_cache")]
    width: Option<usize>,
    intermediate_size: Option<usize>,
    /// The name of `intermediate_size` in older files, which comes first.
    block_ff_dim: Option<usize>,
    block_auto_adjust_ff_dim: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    block_ffn_dim_multiplier: Option<Option<f64>>,
    block_multiple_of: Option<usize>,
    /// The layers with attention, where there is no `layer_types`.
    full_attn_idxs: Option<Vec<usize>>,
    tie_word_embeddings: Option<bool>,
    /// The name of `tie_word_embeddings` in older files, which comes first.
    tie_embedding: Option<bool>,
}

impl Lfm2File {
    /// The inner size of the feed-forward networks.
    fn d_ff(&self, origin: &str) -> Result<usize> {
        let size = self.block_ff_dim.or(self.intermediate_size).unwrap_or(12_288);
        if !self.block_auto_adjust_ff_dim.unwrap_or(true) {
            return Ok(size);
        }
        let multiple = self.block_multiple_of.unwrap_or(256);
        if multiple == 0 {
            return Err(unsupported(origin, "block_multiple_of", 0, "a size above 0"));
        }
        let size = size.saturating_mul(2) / 3;
        let rounded = |size: usize| size.div_ceil(multiple).saturating_mul(multiple);
        // `null` is no multiplier, and leaves the size as it is.
        let multiplier = self.block_ffn_dim_multiplier.unwrap_or(Some(1.0));
        Ok(multiplier.map_or(size, |multiplier| rounded((multiplier * size as f64) as usize)))
    }
}

/// The fields about experts.
#[derive(Debug, Deserialize)]
struct ExpertsFile {
    num_experts: Option<usize>,
    num_experts_per_tok: Option<usize>,
    moe_intermediate_size: Option<usize>,
    intermediate_size: Option<usize>,
    /// How many of the first layers have a feed-forward network instead.
    num_dense_layers: Option<usize>,
    norm_topk_prob: Option<bool>,
    use_expert_bias: Option<bool>,
    routed_scaling_factor: Option<f64>,
}

/// Reads the file of a model with a feed-forward network in each layer.
pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: Lfm2File = parse(json, origin)?;
    with_experts(json, own.d_ff(origin)?, None, origin)
}

/// Reads the file of a model with experts in all layers but the first.
pub(super) fn read_experts(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: ExpertsFile = parse(json, origin)?;
    let (count, per_token) = (own.num_experts.unwrap_or(32), own.num_experts_per_tok.unwrap_or(4));
    let d_ff = own.moe_intermediate_size.unwrap_or(1792);
    let experts = Experts {
        gate: ExpertGate::Sigmoid,
        renormalized: own.norm_topk_prob.unwrap_or(true),
        least_sum: 1e-6,
        scale: own.routed_scaling_factor.unwrap_or(1.0),
        corrected: own.use_expert_bias.unwrap_or(true),
        ..Experts::plain(count, per_token, d_ff, ExpertNames::BlockSparse)
    };
    experts.check("num_experts", origin)?;
    let dense = own.num_dense_layers.unwrap_or(2);
    with_experts(json, own.intermediate_size.unwrap_or(7168), Some((dense, experts)), origin)
}

/// Reads the file of a model whose feed-forward networks have this inner size, with experts from a layer on where there
/// are some.
fn with_experts(
    json: &[u8],
    d_ff: usize,
    experts: Option<(usize, Experts)>,
    origin: &str,
) -> Result<ModelConfig> {
    let own: Lfm2File = parse(json, origin)?;
    let mut fields: Map<String, Value> = parse(json, origin)?;
    fields.insert("rms_norm_eps".to_owned(), own.norm_eps.unwrap_or(1e-5).into());
    fields.insert("intermediate_size".to_owned(), d_ff.into());
    fields.remove("hidden_act"); // it is `silu`, whatever a file says
    fields.entry("num_key_value_heads").or_insert(8.into());
    let file: LlamaFile = parse(Value::Object(fields).to_string().as_bytes(), origin)?;
    if experts.is_none() {
        file.check_dense(origin)?;
    }

    let width = own.width.unwrap_or(3);
    if width == 0 {
        return Err(unsupported(origin, "conv_L_cache", width, "at least 1 position"));
    }
    let head_dim = file.head_dim();
    let defaults = Defaults { head_dim, theta: 1e6, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let expected = "`conv` or `full_attention`";
    let types = file.types_of_layers(&[CONVOLUTION, FULL], expected, origin)?;
    let convolution = Convolution { width, bias: own.conv_bias.unwrap_or(false) };
    let layers = file.layers_by_number(origin, |i| {
        let attends = match (types, &own.full_attn_idxs) {
            (Some(types), _) => types[i] == FULL,
            (None, Some(layers)) => layers.contains(&i),
            (None, None) => true,
        };
        let mlp = match &experts {
            Some((dense, experts)) if i >= *dense => Mlp::Experts(experts.clone()),
            _ => Mlp::Dense,
        };
        let attention = LayerConfig { mlp, ..LayerConfig::plain(rope.clone()) };
        match attends {
            true => attention,
            false => LayerConfig {
                mixer: Mixer::Convolution(convolution),
                rope: None,
                ..attention
            },
        }
    })?;
    let llama = LlamaConfig {
        layers,
        qk_norm: Some(QkNorm::Head),
        ..LlamaConfig::plain(rope)
    };
    let config = file.model(llama, (head_dim, context), origin)?;
    let tied_head = own.tie_embedding.or(own.tie_word_embeddings).unwrap_or(true);
    Ok(ModelConfig { tied_head, ..config })
}
