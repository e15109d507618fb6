//! `config.json` of Granite: a Llama whose numbers are multiplied in four places.

use serde::Deserialize;

use super::file::positive;
use super::llama::{Defaults, LlamaFile};
use super::{LlamaConfig, ModelConfig, parse};
use crate::error::Result;

/// The fields that only this family has.
#[derive(Debug, Deserialize)]
struct GraniteFile {
    embedding_multiplier: Option<f64>,
    attention_multiplier: Option<f64>,
    residual_multiplier: Option<f64>,
    /// Logits are divided by it.
    logits_scaling: Option<f64>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: GraniteFile = parse(json, origin)?;
    let file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    file.check_full_attention(origin)?;
    let head_dim = file.head_dim();
    let (rope, context) = file.rope(Defaults { head_dim, ..Defaults::default() }, origin)?;
    let multiplier = |value: Option<f64>, field| positive(value.or(Some(1.0)), field, origin);
    let llama = LlamaConfig {
        mlp_bias: file.mlp_bias.unwrap_or(false),
        embedding_scale: Some(multiplier(own.embedding_multiplier, "embedding_multiplier")?),
        attention_scale: Some(multiplier(own.attention_multiplier, "attention_multiplier")?),
        residual_scale: Some(multiplier(own.residual_multiplier, "residual_multiplier")?),
        logit_scale: Some(1.0 / multiplier(own.logits_scaling, "logits_scaling")?),
        ..file.plain(rope)
    };
    file.model(llama, (head_dim, context), origin)
}
