//! Scaled dot-product attention on Burn's tensors.

use burn::tensor::{Bool, DType, Device, Tensor, activation::softmax, s};

/// Scaled dot-product attention: `softmax(q k^T / sqrt(head_dim)) v`.
///
/// `q` is `[batch, n_heads, seq, head_dim]`; `k` and `v` are
/// `[batch, n_kv_heads, total, head_dim]`; `mask` is `[seq, total]`, true where a query must not
/// attend to a key. A `softcap` bounds the scores, and `sinks`, `[n_heads]`, are scores that belong to no
/// key, in models that ask for it. Returns `[batch, n_heads, seq, head_dim]`.
pub fn attend(
    q: Tensor<4>,
    k: Tensor<4>,
    v: Tensor<4>,
    mask: Option<&Tensor<2, Bool>>,
    softcap: Option<f32>,
    sinks: Option<&Tensor<1>>,
) -> Tensor<4> {
    let shape = q.dims();
    attention_weights(q, k, mask, softcap, sinks).matmul(v).reshape(shape)
}

/// The weights by which each query takes up the values, which sum to 1, or to less with a sink:
/// `[batch, n_kv_heads, group * seq, total]`.
///
/// Keys and values are not repeated for the query heads that share them. Instead, the query heads
/// of a group are stacked along `seq`.
pub fn attention_weights(
    q: Tensor<4>,
    k: Tensor<4>,
    mask: Option<&Tensor<2, Bool>>,
    softcap: Option<f32>,
    sinks: Option<&Tensor<1>>,
) -> Tensor<4> {
    // ANCHOR: attend
    let [batch, n_heads, seq, head_dim] = q.dims();
    let [_, n_kv_heads, total, _] = k.dims();
    let group = n_heads / n_kv_heads;
    let dtype = q.dtype();

    let q = q * (head_dim as f64).powf(-0.5);
    let q = q.reshape([batch, n_kv_heads, group * seq, head_dim]);
    let scores = q.matmul(k.transpose()); // [batch, n_kv_heads, group * seq, total]
    let scores = capped(scores, softcap);

    let scores = match mask {
        None => scores,
        Some(mask) => {
            let grouped = scores.reshape([batch, n_kv_heads, group, seq, total]);
            let mask = mask.clone().unsqueeze::<5>(); // [1, 1, 1, seq, total]
            let hidden = grouped.mask_fill(mask, f32::NEG_INFINITY);
            hidden.reshape([batch, n_kv_heads, group * seq, total])
        }
    };
    let scores = scores.cast(DType::F32);
    let Some(sinks) = sinks else {
        return softmax(scores, 3).cast(dtype);
    };
    // ANCHOR_END: attend
    let sinks = sinks.clone().cast(DType::F32).reshape([1, n_kv_heads, group, 1]);
    let sinks = sinks.expand([batch, n_kv_heads, group, seq]);
    let sinks = sinks.reshape([batch, n_kv_heads, group * seq, 1]);
    let weights = softmax(Tensor::cat(vec![scores, sinks], 3), 3);
    weights.slice(s![.., .., .., ..total]).cast(dtype)
}

/// Bounds each number: `cap * tanh(x / cap)`.
pub(super) fn capped<const D: usize>(x: Tensor<D>, cap: Option<f32>) -> Tensor<D> {
    match cap {
        Some(cap) => (x / cap).tanh() * cap,
        None => x,
    }
}

// ANCHOR: causal_mask
/// The causal mask, `[seq, start + seq]`: true above the diagonal that ends in the lower right
/// corner, where a key comes after its query. A single new position attends to every key, so it
/// needs no mask.
pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Option<Tensor<2, Bool>> {
    (seq > 1).then(|| Tensor::tril_mask([seq, start + seq], start as i64, device))
}
// ANCHOR_END: causal_mask

// ANCHOR: window_mask
/// As [`causal_mask`], where a query attends to `window` positions, up to its own and with it: also
/// true below the diagonal of those that are behind the window.
pub fn window_mask(
    seq: usize,
    start: usize,
    window: Option<usize>,
    device: &Device,
) -> Option<Tensor<2, Bool>> {
    let after = causal_mask(seq, start, device);
    let Some(window) = window.filter(|window| start + seq > *window) else {
        return after;
    };
    let diagonal = (start + 1) as i64 - window as i64;
    let before = Tensor::triu_mask([seq, start + seq], diagonal, device);
    Some(match after {
        Some(after) => after.bool_or(before),
        None => before,
    })
}
// ANCHOR_END: window_mask
