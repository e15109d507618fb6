//! Coalescing: how many cache lines the units of a plane load at once.

/// How the weights of a matrix lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `[n_out][n_in]`: all weights of output 0, then the ones of output 1.
    ByOutput,
    /// `[n_in][n_out]`: the weights of all outputs for input 0, then the ones for input 1.
    ByInput,
}

/// A matrix of weights.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    pub n_out: usize,
    pub n_in: usize,
    /// 4 for f32, 2 for f16.
    pub bytes_of_a_weight: usize,
    pub layout: Layout,
}

/// The same kernel can be fast or slow on a GPU, depending on where its numbers lie. Begin with the
/// addresses that the units of a plane read at the same time: unit by unit, in bytes from the start
/// of the matrix.
///
/// Unit `u` computes output `first + u`, and all units are at input `k`. A unit without an output
/// reads nothing.
pub fn addresses(matrix: &Matrix, first: usize, units: usize, k: usize) -> Vec<usize> {
    todo!()
}

/// Memory doesn't deliver single numbers, it delivers cache lines. How many are loaded if each unit
/// reads `bytes` bytes, at least 1, from its address?
///
/// - Lines have `line` bytes, and begin at the multiples of `line`.
/// - A line is loaded once for all units that read from it.
/// - What a unit reads may lie in two lines, or in more.
///
/// ```text
/// lines of 16 bytes, 4 bytes from each of    0  4  8 12    -> 1
///                                           24 28 32 36    -> 2
///                                            0 20 40 60    -> 4
///                                           14             -> 2
/// ```
pub fn lines(addresses: &[usize], bytes: usize, line: usize) -> usize {
    todo!()
}

/// How much of that did the units want? Return the share of the bytes of these lines that they
/// asked for. A byte counts once, even if several units read it. `None` if nothing is read.
pub fn used(addresses: &[usize], bytes: usize, line: usize) -> Option<f64> {
    todo!()
}
