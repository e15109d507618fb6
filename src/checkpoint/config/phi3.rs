//! `config.json` of Phi-3 and Phi-4-mini: fused matrices, heads that turn in part, `longrope`.

use super::llama::{Defaults, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse};
use crate::error::Result;
use crate::model::config::LayerConfig;

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    // That of transformers.
    file.original_max_position_embeddings.get_or_insert(4096.0);
    let head_dim = file.head_dim();
    let defaults = Defaults { head_dim, partial: true, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let window = file.sliding_window.flatten();
    let layer = LayerConfig { window, ..LayerConfig::plain(rope.clone()) };
    let llama = LlamaConfig { layers: vec![layer], fused: true, ..LlamaConfig::plain(rope) };
    file.model(llama, (head_dim, context), origin)
}
