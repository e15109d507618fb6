//! `config.json` of SmolLM3: a Llama some of whose layers have no RoPE.

use serde::Deserialize;

use super::llama::{Defaults, LlamaFile, SLIDING};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::LayerConfig;

/// The fields that only this family has.
#[derive(Debug, Deserialize)]
struct SmolLm3File {
    /// For each layer whether it has RoPE, in spite of the name.
    no_rope_layers: Option<Vec<u8>>,
    no_rope_layer_interval: Option<usize>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: SmolLm3File = parse(json, origin)?;
    let file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    let head_dim = file.head_dim();
    let defaults = Defaults { head_dim, theta: 2_000_000.0, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    if let Some(listed) =
        own.no_rope_layers.as_ref().filter(|all| all.len() < file.num_hidden_layers)
    {
        let each = "an entry for each layer";
        return Err(unsupported(origin, "no_rope_layers", listed.clone(), each));
    }
    let interval = own.no_rope_layer_interval.unwrap_or(4);
    let has_rope = |i: usize| match &own.no_rope_layers {
        Some(listed) => listed[i] != 0,
        None => interval == 0 || !(i + 1).is_multiple_of(interval),
    };
    // Layers that are listed have the window whatever `use_sliding_window` says.
    let is_used = file.use_sliding_window == Some(true) || file.layer_types.is_some();
    let window = file.sliding_window.flatten().filter(|_| is_used);
    let layers = file.layers(origin, |i, layer_type| {
        let slides = layer_type.map_or(!has_rope(i), |layer_type| layer_type == SLIDING);
        LayerConfig {
            window: window.filter(|_| slides),
            rope: has_rope(i).then(|| rope.clone()),
            ..LayerConfig::plain(rope.clone())
        }
    })?;
    let llama = LlamaConfig {
        layers,
        mlp_bias: file.mlp_bias.unwrap_or(false),
        ..file.plain(rope)
    };
    file.tied_model(llama, (head_dim, context), origin)
}
