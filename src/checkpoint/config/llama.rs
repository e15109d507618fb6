//! `config.json` of the Llama family.

use serde::Deserialize;

use super::file::{activation, given, positive};
use super::{Family, LlamaConfig, ModelConfig, OneOrMany, RopeConfig, RopeScaling};
use super::{parse, unsupported};
use crate::error::Result;
use crate::model::activation::Activation;

/// The window that transformers assumes where the file has no `sliding_window`.
const DEFAULT_WINDOW: usize = 4096;

/// The fields of the file that affect the logits or the tokens.
#[derive(Debug, Deserialize)]
struct LlamaFile {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    hidden_act: Option<String>,
    tie_word_embeddings: Option<bool>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    /// RoPE as of transformers 5; older files have the two fields below.
    rope_parameters: Option<RopeFile>,
    rope_theta: Option<f64>,
    rope_scaling: Option<RopeFile>,
    partial_rotary_factor: Option<f64>,
    #[serde(default, deserialize_with = "given")]
    sliding_window: Option<Option<usize>>,
    use_sliding_window: Option<bool>,
    layer_types: Option<Vec<String>>,
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
}

#[derive(Debug, Deserialize)]
struct RopeFile {
    rope_type: Option<String>,
    /// The older name of `rope_type`. Some files have both.
    #[serde(rename = "type")]
    old_type: Option<String>,
    rope_theta: Option<f64>,
    partial_rotary_factor: Option<f64>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
}

/// Reads the file of a model whose `model_type` is `llama`, `mistral`, `qwen2` or `qwen3`.
pub(super) fn read(model_type: &str, json: &[u8], origin: &str) -> Result<ModelConfig> {
    let file: LlamaFile = parse(json, origin)?;
    file.check_window(model_type, origin)?;
    // Some biases are fixed by the architecture, others are set in the file.
    let attention_bias = file.attention_bias.unwrap_or(false);
    let (qkv_bias, o_bias, mlp_bias, qk_norm) = match model_type {
        "llama" => (attention_bias, attention_bias, file.mlp_bias.unwrap_or(false), false),
        "qwen2" => (true, false, false, false),
        "qwen3" => (attention_bias, attention_bias, false, true),
        _ => (false, false, false, false), // mistral
    };
    let head_dim = match (file.head_dim, model_type) {
        (Some(head_dim), _) => head_dim,
        (None, "qwen3") => 128,
        (None, _) => file.hidden_size / file.num_attention_heads.max(1),
    };
    Ok(ModelConfig {
        family: Family::Llama(LlamaConfig {
            rope: file.rope(origin)?,
            qkv_bias,
            o_bias,
            mlp_bias,
            qk_norm,
        }),
        vocab_size: file.vocab_size,
        d_model: file.hidden_size,
        n_layers: file.num_hidden_layers,
        n_heads: file.num_attention_heads,
        n_kv_heads: file.num_key_value_heads.unwrap_or(file.num_attention_heads),
        head_dim,
        d_ff: file.intermediate_size,
        context_length: file.max_position_embeddings,
        norm_eps: file.rms_norm_eps,
        activation: activation(file.hidden_act.as_deref(), Activation::Silu, "hidden_act", origin)?,
        tied_head: file.tie_word_embeddings.unwrap_or(false),
        bos_token_id: file.bos_token_id,
        eos_token_ids: file.eos_token_id.map(OneOrMany::into_vec).unwrap_or_default(),
    })
}

impl LlamaFile {
    /// Rejects sliding-window attention, which this crate does not implement.
    fn check_window(&self, model_type: &str, origin: &str) -> Result<()> {
        let full = "attention over the whole sequence (no sliding window)";
        let is_qwen = matches!(model_type, "qwen2" | "qwen3");
        // Qwen's files give a window size even where the window is not used.
        if self.use_sliding_window.unwrap_or(!is_qwen) {
            if let Some(Some(window)) = self.sliding_window {
                return Err(unsupported(origin, "sliding_window", window, full));
            }
            if is_qwen && self.sliding_window.is_none() {
                return Err(unsupported(origin, "use_sliding_window", true, full));
            }
        }
        let silent = model_type == "mistral" && self.sliding_window.is_none();
        if silent && self.max_position_embeddings > DEFAULT_WINDOW {
            return Err(unsupported(origin, "sliding_window", DEFAULT_WINDOW, full));
        }
        let mut types = self.layer_types.iter().flatten();
        match types.find(|layer| *layer != "full_attention") {
            Some(other) => {
                Err(unsupported(origin, "layer_types", other.as_str(), "`full_attention`"))
            }
            None => Ok(()),
        }
    }

    /// Where a file has both spellings, the older one decides, as in transformers.
    fn rope(&self, origin: &str) -> Result<RopeConfig> {
        let spellings = [&self.rope_scaling, &self.rope_parameters].map(Option::as_ref);
        let nested = |field: fn(&RopeFile) -> Option<f64>| {
            spellings.iter().flatten().find_map(|rope| field(rope))
        };
        let theta = nested(|rope| rope.rope_theta).or(self.rope_theta).unwrap_or(10_000.0);
        let part = nested(|rope| rope.partial_rotary_factor).or(self.partial_rotary_factor);
        if let Some(part) = part.filter(|part| *part != 1.0) {
            let whole = "1 (whole heads turn)";
            return Err(unsupported(origin, "partial_rotary_factor", part, whole));
        }
        let scaling = match spellings.into_iter().flatten().next() {
            Some(rope) => rope.scaling(origin)?,
            None => RopeScaling::None,
        };
        let theta = positive(Some(theta), "rope_theta", origin)?;
        Ok(RopeConfig { theta, scaling })
    }
}

impl RopeFile {
    fn scaling(&self, origin: &str) -> Result<RopeScaling> {
        let rope_type = self.rope_type.as_ref().or(self.old_type.as_ref());
        match rope_type.map_or("default", String::as_str) {
            "default" => Ok(RopeScaling::None),
            "linear" => {
                Ok(RopeScaling::Linear { factor: positive(self.factor, "factor", origin)? })
            }
            "llama3" => self.llama3(origin),
            other => {
                let known = "`default`, `linear` or `llama3`";
                Err(unsupported(origin, "rope_type", other, known))
            }
        }
    }

    fn llama3(&self, origin: &str) -> Result<RopeScaling> {
        let low = positive(self.low_freq_factor, "low_freq_factor", origin)?;
        let high = positive(self.high_freq_factor, "high_freq_factor", origin)?;
        if high <= low {
            let above = "a number above low_freq_factor";
            return Err(unsupported(origin, "high_freq_factor", high, above));
        }
        let original = self.original_max_position_embeddings;
        Ok(RopeScaling::Llama3 {
            factor: positive(self.factor, "factor", origin)?,
            low_freq_factor: low,
            high_freq_factor: high,
            original_context: positive(original, "original_max_position_embeddings", origin)?,
        })
    }
}
