//! Latent attention without a key.

use std::cell::Cell;

/// A matrix that counts how often it is multiplied with a vector.
#[derive(Debug, Clone)]
pub struct Matrix {
    pub rows: Vec<Vec<f32>>,
    pub products: Cell<usize>,
}

impl Matrix {
    /// The matrix times `x`: a number for each row.
    pub fn times(&self, x: &[f32]) -> Vec<f32> {
        self.products.set(self.products.get() + 1);
        self.rows.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// The sum of its rows, each times its number of `x`: the transposed matrix times `x`.
    pub fn transposed_times(&self, x: &[f32]) -> Vec<f32> {
        self.products.set(self.products.get() + 1);
        let mut sum = vec![0.0; self.rows.first().map_or(0, Vec::len)];
        for (row, x) in self.rows.iter().zip(x) {
            sum.iter_mut().zip(row).for_each(|(sum, a)| *sum += a * x);
        }
        sum
    }
}

/// The matrices of one head, which make its key and its value from a latent.
#[derive(Debug, Clone)]
pub struct Head {
    /// `[key_dim][rank]`
    pub key: Matrix,
    /// `[value_dim][rank]`
    pub value: Matrix,
}

/// A position caches one latent, `[rank]`, from which each head would make its key and its value. Don't
/// make them: there is one for each position, and you have one query. Compute what the head takes up,
/// `[value_dim]`, from the latents as they are.
///
/// - The score of a position is the product of `query` and its key, divided by the square root of the
///   key's length. The key is `head.key` times the latent.
/// - The weights are the softmax of all scores. The head takes up the values, each times its weight. A
///   value is `head.value` times the latent.
/// - Each of the two matrices is multiplied once, however many latents there are.
/// - There is at least one latent. Scores may be large, up to 1000.
///
/// ```text
/// key matrix [[1, 2], [0, 1]], query [3, 1], latents [1, 0] and [0, 1]
///
/// keys [1, 0] and [2, 1], products 3 and 7
/// the query through the matrix: [3, 7], and its product with the latents is 3 and 7 too
/// ```
pub fn absorbed_matrix(head: &Head, query: &[f32], latents: &[Vec<f32>]) -> Vec<f32> {
    todo!()
}
