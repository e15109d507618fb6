//! `config.json` of OLMo 3: norms after attention and the feed-forward network, and windows.

use serde::Deserialize;

use super::gemma3::{RopesFile, ropes};
use super::llama::{LlamaFile, SLIDING};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::{LayerConfig, Norms, QkNorm};

/// The base of RoPE where the file has none, and always of layers with a window in a file that does not give
/// them one of their own.
const THETA: f64 = 500_000.0;

/// The field that this family reads otherwise.
#[derive(Debug, Deserialize)]
struct Olmo3File {
    /// By the type of a layer.
    rope_parameters: Option<RopesFile>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: Olmo3File = parse(json, origin)?;
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    // What older files say of scaling is about the layers without a window.
    let (full, sliding) = ropes(own.rope_parameters, file.rope_scaling.take(), origin)?;
    let full = file.rope_of(full, file.rope_theta.unwrap_or(THETA), origin)?;
    let sliding = file.rope_of(sliding, THETA, origin)?;
    let window = file.sliding_window.unwrap_or(Some(4096));
    if window.is_none() && file.layer_types.is_none() {
        let some = "a window, as some layers have one";
        return Err(unsupported(origin, "sliding_window", None::<usize>, some));
    }
    let layers = file.layers(origin, |i, layer_type| {
        let every = !(i + 1).is_multiple_of(4);
        let slides = layer_type.map_or(every, |layer_type| layer_type == SLIDING);
        LayerConfig {
            window: window.filter(|_| slides),
            norms: Norms::After,
            ..LayerConfig::plain(if slides { &sliding } else { &full }.clone())
        }
    })?;
    let llama = LlamaConfig {
        layers,
        qk_norm: Some(QkNorm::Projection),
        ..file.plain(full)
    };
    let shape = (file.head_dim(), file.max_position_embeddings);
    file.model(llama, shape, origin)
}
