//! A chunk of positions, and one look at the state.
//!
//! Why: the state is a sum of what was added under each key, so the rule is attention without a softmax to what was
//! added. Within a chunk the products of keys say how much of that a position finds, and the state itself is one
//! product for all.
//!
//! What it costs: a product for each pair of positions in the chunk, as attention has it. So a chunk is short, and the
//! state is read and written once for each.
//!
//! A common wrong turn: taking off the values of earlier positions. What they added is less, where something was there
//! before.

/// What the state, as it is before the chunk, holds for each of these keys or queries:
/// `[rows][key_dim]` -> `[rows][value_dim]`. One product of two matrices.
pub type Held<'a> = dyn FnMut(&[Vec<f32>]) -> Vec<Vec<f32>> + 'a;

/// The positions of a chunk, one row for each.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// `[seq][key_dim]`
    pub queries: Vec<Vec<f32>>,
    /// `[seq][key_dim]`
    pub keys: Vec<Vec<f32>>,
    /// `[seq][value_dim]`
    pub values: Vec<Vec<f32>>,
    /// How much of what is missing is added, `[seq]`.
    pub strengths: Vec<f32>,
}

/// What each position adds under its key, and what each query reads, `[seq][value_dim]` both.
pub fn delta_chunk(held: &mut Held<'_>, chunk: &Chunk) -> [Vec<Vec<f32>>; 2] {
    let seq = chunk.keys.len();
    let mut found = held(&[&chunk.keys[..], &chunk.queries].concat());
    let mut read = found.split_off(seq);
    let mut added: Vec<Vec<f32>> = Vec::new();
    for (i, mut found) in found.into_iter().enumerate() {
        for (j, added) in added.iter().enumerate() {
            add(&mut found, product(&chunk.keys[i], &chunk.keys[j]), added);
        }
        let missing = chunk.values[i].iter().zip(&found).map(|(value, found)| value - found);
        added.push(missing.map(|missing| chunk.strengths[i] * missing).collect());
        for (j, added) in added.iter().enumerate() {
            add(&mut read[i], product(&chunk.queries[i], &chunk.keys[j]), added);
        }
    }
    [added, read]
}

fn add(sum: &mut [f32], factor: f32, x: &[f32]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x);
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
