//! The delta rule on numbers that you can check by hand, and the same numbers from attention without a softmax.

use std::fmt::Write;

use slowburn::kernels::{DeltaHeads, DeltaRows};

/// Keys of two numbers, values of one: a state of two numbers.
const HEADS: DeltaHeads = DeltaHeads { key_heads: 1, value_heads: 1, key_dim: 2, value_dim: 1 };

/// What is written, one after the other. All keys have the length 1.
const WRITTEN: [([f32; 2], f32); 3] = [([1.0, 0.0], 30.0), ([0.0, 1.0], 50.0), ([0.6, 0.8], 20.0)];

// ANCHOR: step
/// One position, by the kernel of the forward pass: the state takes up `value` under `key` with
/// this strength, and what it then holds for the key is read.
fn step(state: &mut [f32], key: [f32; 2], value: f32, strength: f32) -> f32 {
    let [x, y] = key;
    let qkv = [x, y, x, y, value]; // the query is the key
    let rows = DeltaRows { qkv: &qkv, decay: &[1.0], strength: &[strength] };
    let read = HEADS.forward(state, rows)[0];
    read * 2f32.sqrt() // the kernel divides by it, as attention divides its scores
}

/// What a state holds for a key: a step that writes nothing.
fn read(state: &[f32], key: [f32; 2]) -> f32 {
    step(&mut state.to_vec(), key, 0.0, 0.0)
}
// ANCHOR_END: step

// ANCHOR: attention
/// Attention without a softmax: what was added under each key, times the product of that key
/// and the query.
fn attention(added: &[f32], query: [f32; 2]) -> f32 {
    let score = |key: [f32; 2]| key[0] * query[0] + key[1] * query[1];
    WRITTEN.iter().zip(added).map(|((key, _), added)| score(*key) * added).sum()
}
// ANCHOR_END: attention

pub(super) fn text() -> String {
    let mut out = String::from("The delta rule, step by step\n\n");
    let _ = writeln!(
        out,
        "{:<12}{:>7}{:>8}{:>8}   {:<17}{:>6}",
        "key", "value", "found", "added", "state after it", "read"
    );
    let (mut state, mut added) = ([0.0; 2], Vec::new());
    for (key, value) in WRITTEN {
        let found = read(&state, key);
        added.push(value - found);
        let now = step(&mut state, key, value, 1.0);
        let state = format!("[{:.1}, {:.1}]", state[0], state[1]);
        let _ = writeln!(
            out,
            "{:<12}{value:>7.0}{found:>8.1}{:>8.1}   {state:<17}{now:>6.1}",
            format!("{key:?}"),
            value - found,
        );
    }
    let values = WRITTEN.map(|(_, value)| value);
    let _ = writeln!(
        out,
        "\nAfter all three\n\n{:<12}{:>10}{:>26}{:>16}",
        "query", "the state", "attention, what was added", "all of it"
    );
    for (key, _) in WRITTEN {
        let _ = writeln!(
            out,
            "{:<12}{:>10.1}{:>26.1}{:>16.1}",
            format!("{key:?}"),
            read(&state, key),
            attention(&added, key),
            attention(&values, key),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_as_attention_to_what_was_added() {
        let (mut state, mut added) = ([0.0; 2], Vec::new());
        for (key, value) in WRITTEN {
            added.push(value - read(&state, key));
            assert!((step(&mut state, key, value, 1.0) - value).abs() < 1e-3);
            for (query, _) in WRITTEN {
                assert!((read(&state, query) - attention(&added, query)).abs() < 1e-3);
            }
        }
        assert!((added[2] + 38.0).abs() < 1e-3, "{added:?}");
    }
}
