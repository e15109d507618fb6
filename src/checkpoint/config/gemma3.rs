//! `config.json` of Gemma 3, the models of text alone.

use serde::Deserialize;
use serde_json::Value;

use super::file::{activation, positive};
use super::llama::{LlamaFile, SLIDING};
use super::rope::RopeFields;
use super::{LlamaConfig, ModelConfig, parse, unsupported};
use crate::error::Result;
use crate::model::activation::Activation;
use crate::model::config::{LayerConfig, Norms, QkNorm};

/// The fields that only this family has, or reads otherwise.
#[derive(Debug, Deserialize)]
struct Gemma3File {
    hidden_activation: Option<String>,
    query_pre_attn_scalar: Option<f64>,
    /// No published model has one, and transformers 5.24 does not use it. It is used here.
    attn_logit_softcapping: Option<f64>,
    final_logit_softcapping: Option<f64>,
    use_bidirectional_attention: Option<bool>,
    /// As of transformers 5, by the type of a layer.
    rope_parameters: Option<RopesFile>,
    /// The older name of `rope_theta` of the layers with a window.
    rope_local_base_freq: Option<f64>,
    /// Of so many layers, the last attends to the whole sequence. `layer_types` says it otherwise.
    /// transformers writes it again as `_sliding_window_pattern`, and does not read that.
    sliding_window_pattern: Option<usize>,
}

/// The RoPE of each type of layer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RopesFile {
    full_attention: Option<RopeFields>,
    sliding_attention: Option<RopeFields>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let own: Gemma3File = parse(json, origin)?;
    let mut file: LlamaFile = parse(json, origin)?;
    file.check_dense(origin)?;
    if own.use_bidirectional_attention == Some(true) {
        let causal = "`false` (a text is read forwards)";
        return Err(unsupported(origin, "use_bidirectional_attention", true, causal));
    }
    file.head_dim.get_or_insert(256);
    let (full, sliding) = ropes(own.rope_parameters, file.rope_scaling.take(), origin)?;
    let full = file.rope_of(full, file.rope_theta.unwrap_or(1_000_000.0), origin)?;
    let local_theta = own.rope_local_base_freq.unwrap_or(10_000.0);
    let sliding = file.rope_of(sliding, local_theta, origin)?;

    // ANCHOR: layers
    let pattern = own.sliding_window_pattern.unwrap_or(6).max(1);
    let window = file.sliding_window.unwrap_or(Some(4096));
    let layers = file.layers(origin, |i, layer_type| {
        let every = !(i + 1).is_multiple_of(pattern);
        let slides = layer_type.map_or(every, |layer_type| layer_type == SLIDING);
        LayerConfig {
            window: window.filter(|_| slides),
            norms: Norms::Around,
            ..LayerConfig::plain(if slides { &sliding } else { &full }.clone())
        }
    })?;
    // ANCHOR_END: layers
    if window.is_none() && pattern > 1 && file.layer_types.is_none() {
        let some = "a window, as some layers have one";
        return Err(unsupported(origin, "sliding_window", None::<usize>, some));
    }
    let cap = |value: Option<f64>, field| {
        value.map(|value| positive(Some(value), field, origin)).transpose()
    };
    let scalar = own.query_pre_attn_scalar.unwrap_or(256.0);
    let scalar = positive(Some(scalar), "query_pre_attn_scalar", origin)?;
    let llama = LlamaConfig {
        layers,
        qk_norm: Some(QkNorm::Head),
        one_plus_norms: true,
        embedding_scale: Some((file.hidden_size as f64).sqrt()),
        attention_scale: Some(LlamaConfig::inverse_root(scalar)),
        attention_softcap: cap(own.attn_logit_softcapping, "attn_logit_softcapping")?,
        logit_softcap: cap(own.final_logit_softcapping, "final_logit_softcapping")?,
        ..file.plain(full)
    };
    let bend = own.hidden_activation.as_deref();
    let bend = activation(bend, Activation::GeluTanh, "hidden_activation", origin)?;
    let shape = (file.head_dim(), file.max_position_embeddings);
    let config = file.tied_model(llama, shape, origin)?;
    Ok(ModelConfig { activation: bend, ..config })
}

/// The fields about RoPE of the layers that attend to the whole sequence, and of those with a window.
/// `rope_scaling` is about the former, and has precedence.
pub(super) fn ropes(
    parameters: Option<RopesFile>,
    scaling: Option<RopeFields>,
    origin: &str,
) -> Result<(RopeFields, RopeFields)> {
    let default = || RopeFields::from_iter([("rope_type".to_owned(), Value::from("default"))]);
    let ropes = parameters.unwrap_or_default();
    let mut full = ropes.full_attention.unwrap_or_else(default);
    full.extend(scaling.unwrap_or_default());
    let sliding = ropes.sliding_attention.unwrap_or_else(default);
    for fields in [&full, &sliding] {
        // transformers looks for it in another place than a file of this family has it.
        if let Some(truncate) = fields.get("truncate") {
            let none = "a file without this field";
            return Err(unsupported(origin, "truncate", truncate.clone(), none));
        }
    }
    Ok((full, sliding))
}
