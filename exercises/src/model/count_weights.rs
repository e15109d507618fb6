//! How many numbers a model has.

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

/// Will this model fit into your memory? To find out, you count its weights from its sizes, as in
/// the page's table. There are no biases. The number is exact, and fits into a `u64`.
///
/// - A matrix that makes `m` numbers of `n` has `m * n` weights, and a norm has `d_model`.
/// - Queries are `n_heads * head_dim` numbers wide, which may differ from `d_model`.
/// - A block has two norms, and one more norm follows the last block.
/// - A head that is not tied adds `vocab_size * d_model` weights.
///
/// ```text
/// vocab_size 2048, d_model 192, n_layers 5, n_heads 4, n_kv_heads 2, head_dim 48, d_ff 512, tied
///     -> 2422848     (ember)
/// ```
pub fn count_weights(sizes: &Sizes) -> u64 {
    todo!()
}
