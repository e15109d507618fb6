//! One step of the delta rule.

/// A head with a state keeps no keys and values: it keeps one matrix, which maps keys to values. Let
/// a position change that matrix, and read what it then holds for the position's query.
///
/// `state` is `[key_dim][value_dim]`. What it holds for a key is the sum of its rows, each times its
/// number of the key. `query` and `key` are `[key_dim]` and have the length 1, `value` is
/// `[value_dim]`.
///
/// In this order:
///
/// 1. The state fades: each number is multiplied by `decay`.
/// 2. Look up what the state holds for `key`. What is missing to `value`, times `strength`, is added
///    under the key: to each row, times its number of the key.
/// 3. Return what the state now holds for `query`.
///
/// ```text
/// state      [30, 50]            a key of two numbers, values of one: two rows of one number
/// key        [0.6, 0.8]          holds 0.6 * 30 + 0.8 * 50 = 58
/// value      [20]                20 - 58 = -38 is missing
/// state      [7.2, 19.6]         30 + 0.6 * -38 and 50 + 0.8 * -38
/// query      [1, 0]   -> [7.2]
/// ```
pub fn delta_step(
    state: &mut [Vec<f32>],
    query: &[f32],
    key: &[f32],
    value: &[f32],
    decay: f32,
    strength: f32,
) -> Vec<f32> {
    todo!()
}
