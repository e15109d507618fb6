//! How many numbers a model has.
//!
//! Why: each row of the page's table is a matrix or a norm, and a matrix has as many weights as the
//! product of its two widths. What a model has in all says how much memory it needs, and how much is
//! read for each token.
//!
//! What it costs: a few multiplications. Two bytes a weight in f16 make 16 GB of 8 billion.
//!
//! A common wrong turn: to take `d_model` for the width of the queries. In most models
//! `n_heads * head_dim` is the same number, so it stays unnoticed until one comes where it is not.

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

/// The number of weights of a model without biases.
pub fn count_weights(sizes: &Sizes) -> u64 {
    let d_model = sizes.d_model;
    let queries = sizes.n_heads * sizes.head_dim * d_model;
    let keys = sizes.n_kv_heads * sizes.head_dim * d_model;
    let attention = 2 * queries + 2 * keys; // queries and output, keys and values
    let feed_forward = 3 * sizes.d_ff * d_model;
    let block = attention + feed_forward + 2 * d_model;

    let embedding = sizes.vocab_size * d_model;
    let head = if sizes.tied_head { 0 } else { embedding };
    embedding + sizes.n_layers * block + d_model + head
}
