//! Grouped-query attention, for one position, in plain loops.

/// Several query heads share one key/value head, so the model stores fewer keys and values. What
/// does each query head of the newest position get from all positions?
///
/// - `queries` is `[n_heads][head_dim]`: one position, the newest, so nothing is hidden from it.
/// - `keys` and `values` are `[n_kv_heads][total][head_dim]`: all positions, the newest one last.
/// - You return `[n_heads][head_dim]`.
///
/// `n_heads` is a multiple of `n_kv_heads`, and neighbours share: with four query heads and two
/// key/value heads, query heads 0 and 1 use key/value head 0, and 2 and 3 use 1.
///
/// Each query head works by itself:
///
/// - The score of position `t` is the dot product of the query and key `t`, divided by the square
///   root of `head_dim`.
/// - The softmax of the scores gives the weights: `exp(s_t) / sum_u exp(s_u)`. The scores are
///   small, so `exp` doesn't overflow.
/// - The result is the sum of the values, each times its weight.
///
/// ```text
/// queries = [[1, 0]],  keys = [[[1, 0], [0, 1]]],  values = [[[3, 0], [0, 3]]]
///
/// scores [0.71, 0]  ->  weights [0.67, 0.33]  ->  [[2.01, 0.99]]
/// ```
pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    todo!()
}
