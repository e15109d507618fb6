//! As a list of shapes, which is multiplied and added up.

#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub vocab_size: u64,
    pub d_model: u64,
    pub n_layers: u64,
    pub n_heads: u64,
    pub n_kv_heads: u64,
    pub head_dim: u64,
    pub d_ff: u64,
    pub tied_head: bool,
}

pub fn count_weights(sizes: &Sizes) -> u64 {
    let &Sizes {
        vocab_size,
        d_model,
        n_layers,
        n_heads,
        n_kv_heads,
        head_dim,
        d_ff,
        tied_head,
    } = sizes;
    let copies_of_embedding = if tied_head { 1 } else { 2 };
    let parts = [
        (vocab_size, d_model, copies_of_embedding),
        (n_heads * head_dim, d_model, 2 * n_layers),
        (n_kv_heads * head_dim, d_model, 2 * n_layers),
        (d_ff, d_model, 3 * n_layers),
        (1, d_model, 2 * n_layers + 1),
    ];
    parts.iter().map(|(rows, columns, times)| rows * columns * times).sum()
}
