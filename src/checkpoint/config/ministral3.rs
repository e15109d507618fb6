//! `config.json` of Ministral 3: a Mistral whose queries grow with their position.

use serde_json::json;

use super::llama::{Defaults, LlamaFile};
use super::rope::RopeFields;
use super::{LlamaConfig, ModelConfig, parse};
use crate::error::Result;
use crate::model::config::LayerConfig;

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    if file.rope_fields().is_empty() {
        file.rope_scaling = Some(default_rope());
    }
    let head_dim = file.head_dim.unwrap_or(128);
    let defaults = Defaults { head_dim, grows: true, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let window = file.sliding_window.flatten();
    let layer = LayerConfig { window, ..LayerConfig::plain(rope.clone()) };
    let llama = LlamaConfig { layers: vec![layer], ..LlamaConfig::plain(rope) };
    file.model(llama, (head_dim, context), origin)
}

/// What transformers assumes where the file says nothing of RoPE.
fn default_rope() -> RopeFields {
    let rope = json!({
        "rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 16384,
        "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1,
    });
    rope.as_object().cloned().unwrap_or_default()
}
