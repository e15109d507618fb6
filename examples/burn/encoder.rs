//! A language model assembled from Burn's own modules: token and position embeddings, Burn's
//! `TransformerEncoder` with a causal mask, and a linear head.

use burn::module::Module;
use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::transformer::{
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig};
use burn::tensor::{Device, Int, Tensor};

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
    /// Two layers of four heads, with random weights.
    pub fn random(vocab: usize, context: usize, d_model: usize, device: &Device) -> Self {
        Self {
            tokens: EmbeddingConfig::new(vocab, d_model).init(device),
            positions: EmbeddingConfig::new(context, d_model).init(device),
            encoder: TransformerEncoderConfig::new(d_model, 4 * d_model, 4, 2)
                .with_norm_first(true)
                .init(device),
            head: LinearConfig::new(d_model, vocab).init(device),
        }
    }

    /// Token ids `[batch, seq]` -> logits `[batch, seq, vocab]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let [batch, seq] = ids.dims();
        let device = ids.device();
        let positions = Tensor::arange(0..seq as i64, &device).unsqueeze(); // [1, seq]
        let x = self.tokens.forward(ids) + self.positions.forward(positions);
        let mask = generate_autoregressive_mask(batch, seq, &device);
        self.head.forward(self.encoder.forward(TransformerEncoderInput::new(x).mask_attn(mask)))
    }
}
// ANCHOR_END: encoder
