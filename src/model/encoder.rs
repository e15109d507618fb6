//! A language model assembled from Burn's own modules.
//!
//! Token and position embeddings, Burn's `TransformerEncoder` with a causal mask, and a linear head
//! are enough to generate, by running the whole sequence at every step. There is no KV cache: the
//! encoder's `forward` computes the keys and values and drops them, and its
//! `forward_autoregressive_inference`, which keeps them, computes attention for all positions at
//! each step.

use burn::module::Module;
use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::transformer::{
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig};
use burn::tensor::{Device, Int, Tensor};

use super::config::ModelConfig;

/// Burn's modules in sequence.
// ANCHOR: encoder
#[derive(Module, Debug)]
pub struct Encoder {
    tokens: Embedding,
    positions: Embedding,
    encoder: TransformerEncoder,
    head: Linear,
}

impl Encoder {
    /// A model with random weights. Seed the device first.
    pub fn random(config: &ModelConfig, device: &Device) -> Self {
        let (vocab, d_model) = (config.vocab_size, config.d_model);
        let (n_heads, n_layers) = (config.n_heads, config.n_layers);
        Self {
            tokens: EmbeddingConfig::new(vocab, d_model).init(device),
            positions: EmbeddingConfig::new(config.context_length, d_model).init(device),
            encoder: TransformerEncoderConfig::new(d_model, config.d_ff, n_heads, n_layers)
                .with_norm_first(true)
                .init(device),
            head: LinearConfig::new(d_model, vocab).init(device),
        }
    }

    /// The hidden states before the head: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn hidden_states(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let [batch, seq] = ids.dims();
        let device = ids.device();
        let positions = Tensor::arange(0..seq as i64, &device).unsqueeze(); // [1, seq]
        let x = self.tokens.forward(ids) + self.positions.forward(positions);
        let mask = generate_autoregressive_mask(batch, seq, &device);
        self.encoder.forward(TransformerEncoderInput::new(x).mask_attn(mask))
    }

    /// The head: `[batch, seq, d_model]` -> logits `[batch, seq, vocab]`.
    pub fn logits(&self, hidden: Tensor<3>) -> Tensor<3> {
        self.head.forward(hidden)
    }
}
// ANCHOR_END: encoder
