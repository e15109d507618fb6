//! `config.json` of the Llama family: the fields that its members share.

use serde::Deserialize;
use serde_json::{Value, json};

use super::file::{activation, given};
use super::rope::{RopeFields, RopeFile, RopeShape};
use super::{Family, LlamaConfig, ModelConfig, OneOrMany};
use super::{parse, token_id, unsupported};
use crate::error::Result;
use crate::model::activation::Activation;
use crate::model::config::{LayerConfig, QkNorm, RopeConfig};

/// The window that transformers assumes where the file has no `sliding_window`.
const DEFAULT_WINDOW: usize = 4096;

/// The fields of the file that affect the logits or the tokens.
#[derive(Debug, Deserialize)]
pub(super) struct LlamaFile {
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_key_value_heads: Option<usize>,
    pub(super) head_dim: Option<usize>,
    pub(super) intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) rms_norm_eps: f64,
    hidden_act: Option<String>,
    tie_word_embeddings: Option<bool>,
    pub(super) attention_bias: Option<bool>,
    pub(super) mlp_bias: Option<bool>,
    /// RoPE as of transformers 5; older files have the two fields below.
    rope_parameters: Option<RopeFields>,
    pub(super) rope_theta: Option<f64>,
    pub(super) rope_scaling: Option<RopeFields>,
    partial_rotary_factor: Option<f64>,
    pub(super) original_max_position_embeddings: Option<f64>,
    #[serde(default, deserialize_with = "given")]
    pub(super) sliding_window: Option<Option<usize>>,
    pub(super) use_sliding_window: Option<bool>,
    max_window_layers: Option<usize>,
    pub(super) layer_types: Option<Vec<String>>,
    #[serde(default, deserialize_with = "token_id")]
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
    num_experts: Option<Value>,
    num_local_experts: Option<Value>,
    n_routed_experts: Option<Value>,
}

/// Reads the file of a model whose `model_type` is `llama`, `mistral`, `qwen2` or `qwen3`.
pub(super) fn read(model_type: &str, json: &[u8], origin: &str) -> Result<ModelConfig> {
    let file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    // Some biases are fixed by the architecture, others are set in the file.
    let attention_bias = file.attention_bias.unwrap_or(false);
    let (qkv_bias, o_bias, mlp_bias, qk_norm) = match model_type {
        "llama" => (attention_bias, attention_bias, file.mlp_bias.unwrap_or(false), false),
        "qwen2" => (true, false, false, false),
        "qwen3" => (attention_bias, attention_bias, false, true),
        _ => (false, false, false, false), // mistral
    };
    let head_dim = match (file.head_dim, model_type) {
        (None, "qwen3") => 128,
        _ => file.head_dim(),
    };
    let (rope, context) = file.rope(Defaults { head_dim, ..Defaults::default() }, origin)?;
    let layer = LayerConfig::plain(rope.clone());
    let layers = match model_type {
        // With `layer_types` transformers reads it as a Ministral, some of whose layers have none.
        "mistral" => {
            let window = file.sliding_window.unwrap_or(Some(DEFAULT_WINDOW));
            file.layers(origin, |_, layer_type| LayerConfig {
                window: window.filter(|_| layer_type != Some(FULL)),
                ..layer.clone()
            })?
        }
        "qwen2" | "qwen3" => file.windows_of_some_layers(layer, origin)?,
        _ => {
            file.check_full_attention(origin)?;
            vec![layer]
        }
    };
    let llama = LlamaConfig {
        layers,
        qkv_bias,
        o_bias,
        mlp_bias,
        qk_norm: qk_norm.then_some(QkNorm::Head),
        ..LlamaConfig::plain(rope)
    };
    file.model(llama, (head_dim, context), origin)
}

/// What a file of a family that says nothing of it means.
pub(super) struct Defaults {
    pub(super) head_dim: usize,
    pub(super) theta: f64,
    /// Whether a part of each head may be left as it is.
    pub(super) partial: bool,
    /// Whether queries grow with their position.
    pub(super) grows: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { head_dim: 0, theta: 10_000.0, partial: false, grows: false }
    }
}

impl LlamaFile {
    /// The config of a model with these layers, heads of `head_dim` and texts of up to `context_length`
    /// tokens, where the fields mean what they do for Llama.
    pub(super) fn model(
        self,
        llama: LlamaConfig,
        (head_dim, context_length): (usize, usize),
        origin: &str,
    ) -> Result<ModelConfig> {
        let hidden_act = self.hidden_act.as_deref();
        Ok(ModelConfig {
            family: Family::Llama(llama),
            vocab_size: self.vocab_size,
            d_model: self.hidden_size,
            n_layers: self.num_hidden_layers,
            n_heads: self.num_attention_heads,
            n_kv_heads: self.num_key_value_heads.unwrap_or(self.num_attention_heads),
            head_dim,
            d_ff: self.intermediate_size,
            context_length,
            norm_eps: self.rms_norm_eps,
            activation: activation(hidden_act, Activation::Silu, "hidden_act", origin)?,
            tied_head: self.tie_word_embeddings.unwrap_or(false),
            bos_token_id: self.bos_token_id,
            eos_token_ids: self.eos_token_id.map(OneOrMany::into_vec).unwrap_or_default(),
        })
    }

    /// As [`model`](Self::model), for a family whose head is tied where the file does not say.
    pub(super) fn tied_model(
        mut self,
        llama: LlamaConfig,
        shape: (usize, usize),
        origin: &str,
    ) -> Result<ModelConfig> {
        self.tie_word_embeddings = self.tie_word_embeddings.or(Some(true));
        self.model(llama, shape, origin)
    }

    /// A Llama with this RoPE, and with the biases of attention that the file has.
    pub(super) fn plain(&self, rope: RopeConfig) -> LlamaConfig {
        let bias = self.attention_bias.unwrap_or(false);
        LlamaConfig { qkv_bias: bias, o_bias: bias, ..LlamaConfig::plain(rope) }
    }

    pub(super) fn head_dim(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Rejects experts, for a family that has none.
    pub(super) fn check_dense(&self, origin: &str) -> Result<()> {
        for (field, value) in [
            ("num_experts", &self.num_experts),
            ("num_local_experts", &self.num_local_experts),
            ("n_routed_experts", &self.n_routed_experts),
        ] {
            if let Some(value) = value.as_ref().filter(|value| **value != 0) {
                let dense = "a model without experts, or `qwen3_moe` or `mixtral`,";
                return Err(unsupported(origin, field, value.clone(), dense));
            }
        }
        Ok(())
    }

    /// Rejects windows, for a family that has none.
    pub(super) fn check_full_attention(&self, origin: &str) -> Result<()> {
        let full = "attention over the whole sequence (no sliding window)";
        if let Some(Some(window)) = self.sliding_window
            && self.use_sliding_window != Some(false)
        {
            return Err(unsupported(origin, "sliding_window", window, full));
        }
        self.check_layer_types(&["full_attention"], "`full_attention`", origin)
    }

    /// The entries of `layer_types`, one for each layer, where the file has them.
    pub(super) fn types_of_layers(
        &self,
        known: &[&str],
        expected: &'static str,
        origin: &str,
    ) -> Result<Option<&[String]>> {
        self.check_layer_types(known, expected, origin)?;
        match self.layer_types.as_deref() {
            Some(types) if types.len() != self.num_hidden_layers => {
                let each = "an entry for each layer";
                Err(unsupported(origin, "layer_types", types.to_vec(), each))
            }
            types => Ok(types),
        }
    }

    fn check_layer_types(
        &self,
        known: &[&str],
        supported: &'static str,
        origin: &str,
    ) -> Result<()> {
        let mut types = self.layer_types.iter().flatten();
        match types.find(|layer| !known.contains(&layer.as_str())) {
            Some(other) => Err(unsupported(origin, "layer_types", other.as_str(), supported)),
            None => Ok(()),
        }
    }

    /// The layers where `layer_types` says which have the window; where there is none, those from
    /// `max_window_layers` on. Files give a window also where `use_sliding_window` is false.
    fn windows_of_some_layers(&self, layer: LayerConfig, origin: &str) -> Result<Vec<LayerConfig>> {
        /// That of Qwen's configuration classes.
        const FULL_LAYERS: usize = 28;
        let is_used = self.use_sliding_window.unwrap_or(false);
        let window = self.sliding_window.unwrap_or(Some(DEFAULT_WINDOW)).filter(|_| is_used);
        let full = self.max_window_layers.unwrap_or(FULL_LAYERS);
        self.layers(origin, |i, layer_type| LayerConfig {
            window: match layer_type {
                Some(layer_type) => window.filter(|_| layer_type == SLIDING),
                None => window.filter(|_| i >= full),
            },
            ..layer.clone()
        })
    }

    /// What each layer is, by its number and its entry in `layer_types`: one where all are the same.
    pub(super) fn layers(
        &self,
        origin: &str,
        layer: impl Fn(usize, Option<&str>) -> LayerConfig,
    ) -> Result<Vec<LayerConfig>> {
        let expected = "`full_attention` or `sliding_attention`";
        let types = self.types_of_layers(&[SLIDING, FULL], expected, origin)?;
        let layers = self.layers_by_number(origin, |i| {
            let layer_type = types.and_then(|types| types.get(i));
            layer(i, layer_type.map(String::as_str))
        })?;
        let slides =
            types.is_some_and(|types| types.iter().any(|layer_type| layer_type == SLIDING));
        if slides && layers.iter().all(|layer| layer.window.is_none()) {
            let full = "`full_attention`, as this file gives no window or does not use it,";
            return Err(unsupported(origin, "layer_types", SLIDING, full));
        }
        Ok(layers)
    }

    /// What each layer is, by its number alone: one where all are the same.
    pub(super) fn layers_by_number(
        &self,
        origin: &str,
        layer: impl Fn(usize) -> LayerConfig,
    ) -> Result<Vec<LayerConfig>> {
        /// Many times what the deepest models have.
        const MOST: usize = 10_000;
        let count = self.num_hidden_layers;
        if count == 0 || count > MOST {
            return Err(unsupported(origin, "num_hidden_layers", count, "1 to 10000 layers"));
        }
        let mut layers: Vec<LayerConfig> = (0..count).map(layer).collect();
        if layers.iter().all(|layer| *layer == layers[0]) {
            layers.truncate(1);
        }
        Ok(layers)
    }

    /// What the file says of RoPE: `rope_scaling` where it says something, and else `rope_parameters`.
    /// transformers takes one of them whole, and nothing of the other.
    pub(super) fn rope_fields(&self) -> RopeFields {
        let spellings = [&self.rope_scaling, &self.rope_parameters].into_iter().flatten();
        let mut said = spellings.filter(|fields| !fields.is_empty());
        said.next().cloned().unwrap_or_default()
    }

    /// RoPE, and the longest text.
    pub(super) fn rope(&self, defaults: Defaults, origin: &str) -> Result<(RopeConfig, usize)> {
        let fields = self.rope_fields();
        if let Some((name, value)) = fields.iter().find(|(_, value)| value.is_object()) {
            let one = "one set of fields for all layers";
            return Err(unsupported(origin, "rope_parameters", json!({name: value}), one));
        }
        let file = RopeFile::read(fields, origin)?;
        let part = file.partial_rotary_factor.or(self.partial_rotary_factor);
        let part = part.filter(|part| *part != 1.0);
        if let Some(part) = part.filter(|_| !defaults.partial) {
            let whole = "1 (whole heads turn)";
            return Err(unsupported(origin, "partial_rotary_factor", part, whole));
        }
        let rotated = part.map(|part| (defaults.head_dim as f64 * part) as usize);
        if let Some(rotated) = rotated
            && (rotated == 0 || !rotated.is_multiple_of(2) || rotated > defaults.head_dim)
        {
            let even = "a share of the head that is an even number of entries";
            return Err(unsupported(origin, "partial_rotary_factor", part, even));
        }
        let shape = RopeShape {
            theta: file.rope_theta.or(self.rope_theta).unwrap_or(defaults.theta),
            rotated,
            head_dim: defaults.head_dim,
            context: self.max_position_embeddings,
            original: self.original_max_position_embeddings,
        };
        let query_growth = match defaults.grows {
            true => Some(file.query_growth(shape, origin)?),
            false => None,
        };
        let rope = RopeConfig { query_growth, ..file.config(shape, origin)? };
        Ok((rope, file.context(shape)))
    }

    /// What queries and keys are multiplied by, each, where a scaling of RoPE sharpens all of a head.
    pub(super) fn sharpness(&self, origin: &str) -> Result<f64> {
        RopeFile::read(self.rope_fields(), origin)?.sharpness(origin)
    }

    /// As [`rope`](Self::rope), with its fields taken from elsewhere.
    pub(super) fn rope_of(
        &self,
        fields: RopeFields,
        theta: f64,
        origin: &str,
    ) -> Result<RopeConfig> {
        let file = RopeFile::read(fields, origin)?;
        if let Some(part) = file.partial_rotary_factor.filter(|part| *part != 1.0) {
            let whole = "1 (whole heads turn)";
            return Err(unsupported(origin, "partial_rotary_factor", part, whole));
        }
        let shape = RopeShape {
            theta: file.rope_theta.unwrap_or(theta),
            rotated: None,
            head_dim: self.head_dim(),
            context: self.max_position_embeddings,
            original: None,
        };
        file.config(shape, origin)
    }
}

/// The entries of `layer_types`.
pub(super) const SLIDING: &str = "sliding_attention";
pub(super) const FULL: &str = "full_attention";
