//! Latent attention without a key.
//!
//! Why: a product of three can be taken in either order. `q · (K c)` makes a key for each latent `c`, and `(Kᵀ q) · c`
//! one vector for the query, which then meets the latents as they are. The values work in the same way from the other
//! side: a mean of products with a matrix is the product with the mean.
//!
//! What it costs: scores and means over `rank` numbers, where a head has fewer. For a decode step that is little next
//! to what is not read; for a prompt with many queries, making keys and values is cheaper.
//!
//! A common wrong turn: dividing by the root of the rank. The score is still that of a query and a key.

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

/// What a head takes up of latents, `[value_dim]`, without their keys and values.
pub fn absorbed_matrix(head: &Head, query: &[f32], latents: &[Vec<f32>]) -> Vec<f32> {
    let root = (query.len() as f32).sqrt();
    let query = head.key.transposed_times(query);
    let score = |latent: &Vec<f32>| -> f32 {
        query.iter().zip(latent).map(|(a, b)| a * b).sum::<f32>() / root
    };
    let scores: Vec<f32> = latents.iter().map(score).collect();
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f32 = weights.iter().sum();
    let mut mix = vec![0.0; query.len()];
    for (weight, latent) in weights.iter().zip(latents) {
        mix.iter_mut().zip(latent).for_each(|(mix, x)| *mix += weight / sum * x);
    }
    head.value.times(&mix)
}
