//! `config.json` of Gemma 4: two sizes of heads, keys and values that layers share, an embedding for each layer, and
//! experts beside the feed-forward network.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::file::{activation, positive};
use super::llama::{FULL, LlamaFile, SLIDING};
use super::rope::{RopeFile, RopeShape};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::activation::Activation;
use crate::error::Result;
use crate::model::config::{
    ExpertNames, Experts, KvHeads, KvSource, LayerConfig, LayerEmbedding, Mlp, Norms, QkNorm,
    RopeConfig, RopeScaling,
};

/// The fields that only this family has, or reads otherwise.
#[derive(Debug, Deserialize)]
struct Gemma4File {
    hidden_activation: Option<String>,
    final_logit_softcapping: Option<f64>,
    use_bidirectional_attention: Option<Value>,
    vocab_size_per_layer_input: Option<usize>,
    hidden_size_per_layer_input: Option<usize>,
    attention_k_eq_v: Option<bool>,
    num_kv_shared_layers: Option<usize>,
    enable_moe_block: Option<bool>,
    use_double_wide_mlp: Option<bool>,
    num_experts: Option<usize>,
    top_k_experts: Option<usize>,
    moe_intermediate_size: Option<usize>,
    global_head_dim: Option<usize>,
    num_global_key_value_heads: Option<usize>,
    /// The sizes of layers that differ from the others, by their number. Other files have the two fields above.
    per_layer_config: Option<BTreeMap<String, Map<String, Value>>>,
    /// By the type of a layer.
    rope_parameters: Option<Map<String, Value>>,
    partial_rotary_factor: Option<f64>,
}

impl Gemma4File {
    /// The heads of a layer, of which all have `heads` where nothing else is said.
    fn heads(&self, index: usize, is_full: bool, heads: KvHeads, origin: &str) -> Result<KvHeads> {
        let Some(layers) = &self.per_layer_config else {
            let of_full = self.num_global_key_value_heads.filter(|_| self.shares_matrix());
            return Ok(match is_full {
                true => KvHeads::new(
                    of_full.unwrap_or(heads.n_kv_heads),
                    self.global_head_dim.unwrap_or(512),
                ),
                false => heads,
            });
        };
        let mut own = heads;
        for (field, value) in layers.get(&index.to_string()).into_iter().flatten() {
            let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
            match (field.as_str(), size) {
                ("head_dim", Some(size)) => own.head_dim = size,
                ("num_key_value_heads", Some(size)) => own.n_kv_heads = size,
                _ => {
                    let sizes = "sizes of `head_dim` and `num_key_value_heads` alone";
                    let found = json!({ index.to_string(): { field: value } });
                    return Err(unsupported(origin, "per_layer_config", found, sizes));
                }
            }
        }
        Ok(own)
    }

    /// Whether values are keys in layers without a window.
    fn shares_matrix(&self) -> bool {
        self.attention_k_eq_v.unwrap_or(false)
    }

    /// RoPE of the layers of a type, whose heads have this size.
    fn rope(
        &self,
        of: &str,
        head_dim: usize,
        file: &LlamaFile,
        origin: &str,
    ) -> Result<RopeConfig> {
        let fields = match &self.rope_parameters {
            Some(types) => types.get(of).and_then(Value::as_object).cloned(),
            None if of == FULL => {
                json!({"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6})
                    .as_object()
                    .cloned()
            }
            None => json!({"rope_theta": 1e4}).as_object().cloned(),
        };
        let Some(fields) = fields else {
            let found = self.rope_parameters.clone().map(Value::Object);
            let each = "fields for each type of layer that the model has";
            return Err(unsupported(origin, "rope_parameters", found, each));
        };
        let rope = RopeFile::read(fields, origin)?;
        let part = rope.partial_rotary_factor.or(self.partial_rotary_factor).unwrap_or(1.0);
        let theta = positive(rope.rope_theta.or(file.rope_theta), "rope_theta", origin)?;
        if rope.rope_type() == "proportional" {
            if !(part > 0.0 && part <= 1.0) {
                let share = "a share of the head above 0 and up to 1";
                return Err(unsupported(origin, "partial_rotary_factor", part, share));
            }
            let factor = positive(Some(rope.factor.unwrap_or(1.0)), "factor", origin)?;
            let pairs = (part * head_dim as f64 / 2.0).floor() as usize;
            let scaling = RopeScaling::Proportional { factor, pairs };
            return Ok(RopeConfig { scaling, ..RopeConfig::new(theta) });
        }
        if part != 1.0 && rope.rope_type() != "default" {
            let whole = "1 (whole heads turn)";
            return Err(unsupported(origin, "partial_rotary_factor", part, whole));
        }
        let context = file.max_position_embeddings;
        rope.config(RopeShape { theta, rotated: None, head_dim, context, original: None }, origin)
    }

    /// The experts of each layer, where it has some.
    fn experts(&self, origin: &str) -> Result<Option<Experts>> {
        if !self.enable_moe_block.unwrap_or(false) {
            return Ok(None);
        }
        let size = |field, value: Option<usize>| {
            value.ok_or_else(|| unsupported(origin, field, None::<usize>, "a size from 1 on"))
        };
        let count = size("num_experts", self.num_experts)?;
        let per_token = size("top_k_experts", self.top_k_experts)?;
        let d_ff = size("moe_intermediate_size", self.moe_intermediate_size)?;
        let experts = Experts {
            factors: true,
            ..Experts::plain(count, per_token, d_ff, ExpertNames::Outside)
        };
        experts.check("num_experts", origin)?;
        Ok(Some(experts))
    }

    /// The embeddings of layers, where they have some.
    fn layer_embedding(&self, file: &LlamaFile, origin: &str) -> Result<Option<LayerEmbedding>> {
        let width = self.hidden_size_per_layer_input.unwrap_or(256);
        let tokens = self.vocab_size_per_layer_input.unwrap_or(262_144);
        if width > i32::MAX as usize / file.num_hidden_layers.max(1) {
            let size = "a size whose product with num_hidden_layers is below 2^31";
            return Err(unsupported(origin, "hidden_size_per_layer_input", width, size));
        }
        if width > 0 && (tokens < file.vocab_size || tokens > i32::MAX as usize) {
            let all = "as many as vocab_size at least (each token has one)";
            return Err(unsupported(origin, "vocab_size_per_layer_input", tokens, all));
        }
        Ok((width > 0).then_some(LayerEmbedding { tokens, width }))
    }
}

/// Reads the file of the text part of a Gemma 4 that has no encoders: neither embeddings of layers nor experts.
pub(super) fn read_unified(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let mut fields: Map<String, Value> = parse(json, origin)?;
    fields.insert("hidden_size_per_layer_input".to_owned(), 0.into());
    fields.insert("enable_moe_block".to_owned(), false.into());
    fields.entry("sliding_window").or_insert(1024.into());
    read(Value::Object(fields).to_string().as_bytes(), origin)
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: Gemma4File = parse(json, origin)?;
    let mut file: LlamaFile = parse(json, origin)?;
    let both = own.use_bidirectional_attention.clone();
    if let Some(both) = both.filter(|both| !both.is_null() && both != "vision") {
        let causal = "`null` or `vision` (a text is read forwards)";
        return Err(unsupported(origin, "use_bidirectional_attention", both, causal));
    }
    let n_kv_heads = *file.num_key_value_heads.get_or_insert(4);
    let heads = KvHeads::new(n_kv_heads, file.head_dim.unwrap_or(256));
    let count = file.num_hidden_layers;
    let shared = own.num_kv_shared_layers.unwrap_or(0);
    if shared > 0 && shared >= count {
        let fewer = "fewer than num_hidden_layers";
        return Err(unsupported(origin, "num_kv_shared_layers", shared, fewer));
    }
    let window = file.sliding_window.unwrap_or(Some(512));
    let experts = own.experts(origin)?;

    let expected = "`full_attention` or `sliding_attention`";
    let types = file.types_of_layers(&[SLIDING, FULL], expected, origin)?;
    // The last layer reads the whole text, whatever a file says.
    let is_full = |i: usize| {
        let said = types.map_or((i + 1).is_multiple_of(6), |types| types[i] == FULL);
        said || i + 1 == count
    };
    let own_layers = count - shared;
    let plain = file.layers_by_number(origin, |i| LayerConfig {
        window: window.filter(|_| !is_full(i)),
        norms: Norms::Around,
        mlp: experts.clone().map_or(Mlp::Dense, Mlp::Beside),
        ..LayerConfig::plain(RopeConfig::new(1.0))
    })?;
    let mut layers: Vec<LayerConfig> = Vec::with_capacity(count);
    for i in 0..count {
        let (full, field) = (is_full(i), "num_kv_shared_layers");
        let of = own.heads(i, full, heads, origin)?;
        check_heads(of, file.num_attention_heads, origin)?;
        let source = match (0..own_layers.min(i)).rev().find(|&j| is_full(j) == full) {
            Some(source) if i >= own_layers => {
                if own.heads(source, full, heads, origin)? != of {
                    let same = "layers whose heads are those of the layers that they share with";
                    return Err(unsupported(origin, field, shared, same));
                }
                KvSource::Layer(source)
            }
            None if i >= own_layers => {
                let one = "so few that each type of layer has one with keys and values of its own";
                return Err(unsupported(origin, field, shared, one));
            }
            _ if full && own.shares_matrix() => KvSource::Keys,
            _ => KvSource::Own,
        };
        let is_wide = own.use_double_wide_mlp.unwrap_or(false) && i >= own_layers;
        layers.push(LayerConfig {
            rope: Some(own.rope(if full { FULL } else { SLIDING }, of.head_dim, &file, origin)?),
            heads: Some(of).filter(|of| *of != heads),
            source,
            d_ff: is_wide.then(|| file.intermediate_size.saturating_mul(2)),
            ..plain[i % plain.len()].clone()
        });
    }
    if window.is_none() && layers.len() > 1 && (0..count).any(|i| !is_full(i)) {
        let some = "a window, as some layers have one";
        return Err(unsupported(origin, "sliding_window", None::<usize>, some));
    }
    let cap = own.final_logit_softcapping;
    let cap = cap.map(|cap| positive(Some(cap), "final_logit_softcapping", origin));
    let llama = LlamaConfig {
        layers,
        qk_norm: Some(QkNorm::Head),
        value_norm: true,
        layer_embedding: own.layer_embedding(&file, origin)?,
        layer_scale: true,
        embedding_scale: Some((file.hidden_size as f64).sqrt()),
        attention_scale: Some(1.0),
        logit_softcap: cap.transpose()?,
        ..file.plain(RopeConfig::new(1.0))
    };
    let bend = own.hidden_activation.as_deref();
    let bend = activation(bend, Activation::GeluTanh, "hidden_activation", origin)?;
    let shape = (heads.head_dim, file.max_position_embeddings);
    let config = file.tied_model(llama, shape, origin)?;
    Ok(ModelConfig { activation: bend, ..config })
}

/// Rejects heads of a layer that cannot be.
fn check_heads(heads: KvHeads, n_heads: usize, origin: &str) -> Result<()> {
    let KvHeads { n_kv_heads, head_dim, .. } = heads;
    if head_dim == 0 || !head_dim.is_multiple_of(2) || head_dim > i32::MAX as usize {
        let even = "an even size (RoPE turns pairs)";
        return Err(unsupported(origin, "head_dim", head_dim, even));
    }
    if n_kv_heads == 0 || !n_heads.is_multiple_of(n_kv_heads) {
        let divisor = "a divisor of num_attention_heads";
        return Err(unsupported(origin, "num_key_value_heads", n_kv_heads, divisor));
    }
    Ok(())
}
