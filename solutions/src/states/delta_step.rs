//! One step of the delta rule.
//!
//! Why: a state has room for as many keys as a key has numbers, and no more. A rule that only adds fills it up with
//! old values. This one looks first, and adds what is missing, so that a value can be replaced.
//!
//! What it costs: three passes over the state, however long the text is.
//!
//! A common wrong turn: looking up before the state has faded. Then more is taken off than is there.

/// Changes a state, `[key_dim][value_dim]`, by a position, and returns what it then holds for the query.
pub fn delta_step(
    state: &mut [Vec<f32>],
    query: &[f32],
    key: &[f32],
    value: &[f32],
    decay: f32,
    strength: f32,
) -> Vec<f32> {
    for x in state.iter_mut().flatten() {
        *x *= decay;
    }
    let found = held(state, key, value.len());
    for (row, k) in state.iter_mut().zip(key) {
        for ((x, found), value) in row.iter_mut().zip(&found).zip(value) {
            *x += k * strength * (value - found);
        }
    }
    held(state, query, value.len())
}

/// What a state holds for a key.
fn held(state: &[Vec<f32>], key: &[f32], value_dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0; value_dim];
    for (row, k) in state.iter().zip(key) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += k * x);
    }
    sum
}
