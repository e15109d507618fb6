//! The key/value heads are repeated for the query heads that share them.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

pub fn attend_to_cache(query: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    let [batch, n_heads, _, head_dim] = query.dims();
    let [_, n_kv_heads, length, _] = keys.dims();
    let group = n_heads / n_kv_heads;
    let repeat = |heads: Tensor<4>| {
        heads
            .reshape([batch, n_kv_heads, 1, length, head_dim])
            .expand([batch, n_kv_heads, group, length, head_dim])
            .reshape([batch, n_heads, length, head_dim])
    };
    let query = query.mul_scalar((head_dim as f32).powf(-0.5));
    softmax(query.matmul(repeat(keys).transpose()), 3).matmul(repeat(values))
}
