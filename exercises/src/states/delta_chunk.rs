//! A chunk of positions, and one look at the state.

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

/// Step by step, a prompt would read and write the state once for each position. So compute a chunk
/// without touching it: ask once what it held before the chunk, and work out the rest from products
/// of keys and queries. Nothing fades here.
///
/// Return what each position adds under its key, and what each query reads, `[seq][value_dim]` both:
///
/// - Position `i` finds for its key what `held` has for it, and from each earlier position `j` of the
///   chunk what that has added, times the product of key `i` and key `j`.
/// - It adds `strengths[i]` times what is then missing to its value.
/// - Query `i` reads what `held` has for it, and from each position `j` up to its own what that has
///   added, times the product of query `i` and key `j`.
/// - Call `held` at most once: with all rows that you need.
///
/// ```text
/// an empty state, keys [1, 0], [0, 1], [0.6, 0.8], values 30, 50, 20, strengths 1
///
/// added   30   50   20 - 0.6 * 30 - 0.8 * 50 = -38
/// read for the third query, [1, 0]:   1 * 30 + 0 * 50 + 0.6 * -38 = 7.2
/// ```
pub fn delta_chunk(held: &mut Held<'_>, chunk: &Chunk) -> [Vec<Vec<f32>>; 2] {
    todo!()
}
