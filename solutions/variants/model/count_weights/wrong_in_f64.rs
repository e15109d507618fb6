//! Computed in `f64`, which holds 53 bits of a number.

/// The sizes of a Llama-style decoder.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub vocab_size: u64,
    pub d_model: u64,
    pub n_layers: u64,
    pub n_heads: u64,
    pub n_kv_heads: u64,
    pub head_dim: u64,
    pub d_ff: u64,
    /// The head is the embedding matrix, and not a matrix of its own.
    pub tied_head: bool,
}

pub fn count_weights(sizes: &Sizes) -> u64 {
    let d_model = sizes.d_model;
    let queries = sizes.n_heads * sizes.head_dim * d_model;
    let keys = sizes.n_kv_heads * sizes.head_dim * d_model;
    let attention = 2 * queries + 2 * keys; // queries and output, keys and values
    let feed_forward = 3 * sizes.d_ff * d_model;
    let block = attention + feed_forward + 2 * d_model;

    let embedding = sizes.vocab_size * d_model;
    let head = if sizes.tied_head { 0 } else { embedding };
    (embedding as f64 + sizes.n_layers as f64 * block as f64 + d_model as f64 + head as f64) as u64
}
