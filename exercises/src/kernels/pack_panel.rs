//! Weights as a microkernel reads them: packed in panels.

/// Packs a matrix `[n_out][n_in]` in panels: `[panels][n_in][lanes]`.
///
/// - A panel holds `lanes` outputs that follow each other. For one input, their weights lie side
///   by side: the entry `[p][k][lane]` is the weight of output `p * lanes + lane` for input `k`.
/// - Where the last panel has fewer outputs, zeros take the other lanes.
/// - All rows of `weights` have the same length, and `lanes` is at least 1. Without outputs there
///   are no panels.
///
/// ```text
/// pack(&[[1, 2], [3, 4], [5, 6]], 2)
///
/// outputs 0, 1        output 2, and none
/// k = 0:  1 3         5 0
/// k = 1:  2 4         6 0
/// ```
pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    todo!()
}
