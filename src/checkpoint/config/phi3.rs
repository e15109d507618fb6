//! `config.json` of Phi-3 and Phi-4-mini: fused matrices, heads that turn in part, `longrope`.

use super::llama::{Defaults, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::config::LayerConfig;

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    // That of transformers.
    file.original_max_position_embeddings.get_or_insert(4096.0);
    name_longrope(&mut file, origin)?;
    let head_dim = file.head_dim();
    let defaults = Defaults { head_dim, partial: true, ..Defaults::default() };
    let (rope, context) = file.rope(defaults, origin)?;
    let window = file.sliding_window.flatten();
    let layer = LayerConfig { window, ..LayerConfig::plain(rope.clone()) };
    let llama = LlamaConfig { layers: vec![layer], fused: true, ..LlamaConfig::plain(rope) };
    file.model(llama, (head_dim, context), origin)
}

/// Older files call `longrope` `su` or `yarn`, and there is no other scaling in this family.
fn name_longrope(file: &mut LlamaFile, origin: &str) -> Result<()> {
    let mut fields = file.rope_fields();
    let found = fields.get("rope_type").or(fields.get("type")).cloned();
    match found.as_ref().map(|found| found.as_str().unwrap_or_default()) {
        None | Some("default" | "longrope") => return Ok(()),
        Some("su" | "yarn") => {}
        Some(_) => return Err(unsupported(origin, "rope_type", found, "`default` or `longrope`")),
    }
    fields.insert("rope_type".to_owned(), "longrope".into());
    file.rope_scaling = Some(fields);
    Ok(())
}
