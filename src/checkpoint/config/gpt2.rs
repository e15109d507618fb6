//! `config.json` of GPT-2, which has other names for the same sizes.

use serde::Deserialize;

use super::file::activation;
use super::{Family, ModelConfig, OneOrMany, parse, token_id, unsupported};
use crate::error::Result;
use crate::model::activation::Activation;

/// The fields of the file that affect the logits or the tokens.
#[derive(Debug, Deserialize)]
struct Gpt2File {
    vocab_size: usize,
    n_embd: usize,
    n_layer: usize,
    n_head: usize,
    n_inner: Option<usize>,
    n_positions: usize,
    // What other families call these sizes. transformers knows both names, and sets these last.
    hidden_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    max_position_embeddings: Option<usize>,
    layer_norm_epsilon: f64,
    activation_function: Option<String>,
    tie_word_embeddings: Option<bool>,
    scale_attn_weights: Option<bool>,
    scale_attn_by_inverse_layer_idx: Option<bool>,
    add_cross_attention: Option<bool>,
    #[serde(default, deserialize_with = "token_id")]
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
}

pub(super) fn read(json: &[u8], origin: &str) -> Result<ModelConfig> {
    let file: Gpt2File = parse(json, origin)?;
    let file = file.with_other_names();
    file.check_supported(origin)?;
    Ok(ModelConfig {
        family: Family::Gpt2,
        vocab_size: file.vocab_size,
        d_model: file.n_embd,
        n_layers: file.n_layer,
        n_heads: file.n_head,
        n_kv_heads: file.n_head,
        head_dim: file.n_embd / file.n_head.max(1),
        d_ff: file.n_inner.unwrap_or(file.n_embd.saturating_mul(4)),
        context_length: file.n_positions,
        norm_eps: file.layer_norm_epsilon,
        activation: activation(
            file.activation_function.as_deref(),
            Activation::GeluTanh,
            "activation_function",
            origin,
        )?,
        tied_head: file.tie_word_embeddings.unwrap_or(true),
        bos_token_id: file.bos_token_id,
        eos_token_ids: file.eos_token_id.map(OneOrMany::into_vec).unwrap_or_default(),
    })
}

impl Gpt2File {
    fn with_other_names(mut self) -> Self {
        for (name, other) in [
            (&mut self.n_embd, self.hidden_size),
            (&mut self.n_layer, self.num_hidden_layers),
            (&mut self.n_head, self.num_attention_heads),
            (&mut self.n_positions, self.max_position_embeddings),
        ] {
            *name = other.unwrap_or(*name);
        }
        self
    }

    fn check_supported(&self, origin: &str) -> Result<()> {
        for (field, value, supported) in [
            ("scale_attn_weights", self.scale_attn_weights, true),
            ("scale_attn_by_inverse_layer_idx", self.scale_attn_by_inverse_layer_idx, false),
            ("add_cross_attention", self.add_cross_attention, false),
        ] {
            if value.is_some_and(|value| value != supported) {
                let only = if supported { "`true`" } else { "`false`" };
                return Err(unsupported(origin, field, !supported, only));
            }
        }
        if self.n_head > 0 && !self.n_embd.is_multiple_of(self.n_head) {
            return Err(unsupported(origin, "n_head", self.n_head, "a divisor of n_embd"));
        }
        Ok(())
    }
}
