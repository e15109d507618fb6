//! `config.json` of gpt-oss: sinks, windows in every second layer, and experts with clamped gates.

use serde::Deserialize;
use serde_json::json;

use super::llama::{Defaults, LlamaFile, SLIDING};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::activation::Activation;
use crate::model::config::{ExpertNames, Experts, LayerConfig, Mlp};

/// The fields about experts.
#[derive(Debug, Deserialize)]
struct GptOssFile {
    num_experts: Option<usize>,
    num_local_experts: Option<usize>,
    num_experts_per_tok: Option<usize>,
    swiglu_alpha: Option<f32>,
    swiglu_limit: Option<f32>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: GptOssFile = parse(json, origin)?;
    let mut file: LlamaFile = parse(json, origin)?;
    for (field, value, known, expected) in [
        ("swiglu_alpha", own.swiglu_alpha, Activation::SHARPNESS, "1.702"),
        ("swiglu_limit", own.swiglu_limit, Activation::CLAMP, "7"),
    ] {
        if let Some(value) = value.filter(|value| *value != known) {
            return Err(unsupported(origin, field, value, expected));
        }
    }
    let count = own.num_experts.or(own.num_local_experts).unwrap_or(128);
    let per_token = own.num_experts_per_tok.unwrap_or(4);
    let (d_ff, names) = (file.intermediate_size, ExpertNames::Interleaved);
    let experts = Experts { bias: true, ..Experts::plain(count, per_token, d_ff, names) };
    experts.check("num_local_experts", origin)?;
    if file.rope_fields().is_empty() {
        let rope = json!({
            "rope_type": "yarn", "factor": 32.0, "truncate": false, "original_max_position_embeddings": 4096,
        });
        file.rope_scaling = rope.as_object().cloned();
    }
    let head_dim = file.head_dim.unwrap_or(64);
    let defaults = Defaults { head_dim, theta: 150_000.0, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let window = file.sliding_window.unwrap_or(Some(128));
    if window.is_none() && file.layer_types.is_none() {
        let some = "a window, as some layers have one";
        return Err(unsupported(origin, "sliding_window", None::<usize>, some));
    }
    let layers = file.layers(origin, |i, layer_type| {
        let slides = layer_type.map_or(i.is_multiple_of(2), |layer_type| layer_type == SLIDING);
        LayerConfig {
            window: window.filter(|_| slides),
            mlp: Mlp::Experts(experts.clone()),
            ..LayerConfig::plain(rope.clone())
        }
    })?;
    file.attention_bias.get_or_insert(true);
    let llama = LlamaConfig { layers, sinks: true, ..file.plain(rope) };
    let config = file.model(llama, (head_dim, context), origin)?;
    Ok(ModelConfig { activation: Activation::ClampedSilu, ..config })
}
