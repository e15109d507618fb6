//! How many numbers a model has.
//!
//! Why: each row of the page's table is a matrix or a norm, and a matrix has as many weights as the
//! product of its two widths. The total tells you two things: how much memory the model needs, and
//! how much it reads for each token.
//!
//! What it costs: a few multiplications. At two bytes a weight, in f16, 8 billion weights are 16
//! GB.
//!
//! A common wrong turn: taking `d_model` for the width of the queries. In most models
//! `n_heads * head_dim` is the same number, so nobody notices until a model comes where it isn't.

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
    /// The head uses the embedding matrix instead of a second matrix.
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
