//! Coalescing: how many cache lines the units of a plane load at once.
//!
//! Why: memory delivers lines, not numbers. If 32 units read 32 adjacent numbers, one line of 128
//! bytes serves them all. If each reads the weight of another output, from a matrix that lies
//! output by output, each needs a separate line, of which it uses 4 bytes.
//!
//! What it costs: the weights have to be rearranged once, input by input, when the model is loaded.
//! Panels do the same on the CPU.
//!
//! A common wrong turn: looking at what one unit reads from one step to the next. On a CPU a thread
//! that goes along a row reads sequentially; on a GPU the neighbouring units count.

use std::collections::BTreeSet;

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

/// The addresses that the units of a plane read at the same time, unit by unit.
pub fn addresses(matrix: &Matrix, first: usize, units: usize, k: usize) -> Vec<usize> {
    let end = matrix.n_out.min(first + units);
    let number = |output| match matrix.layout {
        Layout::ByOutput => output * matrix.n_in + k,
        Layout::ByInput => k * matrix.n_out + output,
    };
    (first..end).map(|output| number(output) * matrix.bytes_of_a_weight).collect()
}

/// How many cache lines are loaded where each unit reads `bytes` bytes from its address.
pub fn lines(addresses: &[usize], bytes: usize, line: usize) -> usize {
    let of_unit = |address: &usize| address / line..(address + bytes).div_ceil(line);
    let loaded: BTreeSet<usize> = addresses.iter().flat_map(of_unit).collect();
    loaded.len()
}

/// Which share of the bytes of these lines the units asked for.
pub fn used(addresses: &[usize], bytes: usize, line: usize) -> Option<f64> {
    let of_unit = |address: &usize| *address..address + bytes;
    let asked_for: BTreeSet<usize> = addresses.iter().flat_map(of_unit).collect();
    let loaded = lines(addresses, bytes, line) * line;
    (loaded > 0).then(|| asked_for.len() as f64 / loaded as f64)
}
