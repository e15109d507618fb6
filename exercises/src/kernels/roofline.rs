//! A roofline by hand.

/// A linear layer, and how many rows go through it at once.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    pub n_out: u64,
    pub n_in: u64,
    pub rows: u64,
    /// 4 for f32, 2 for f16.
    pub bytes_of_a_weight: u64,
}

/// The most that a machine can do.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub bytes_per_second: f64,
    pub flops_per_second: f64,
}

/// Where a layer stands under the roof of a machine.
#[derive(Debug, PartialEq)]
pub struct Place {
    pub bytes: u64,
    pub flops: u64,
    /// The least time that the layer can take.
    pub seconds: f64,
    /// Whether its bytes take that time, and not its operations.
    pub waits_for_bytes: bool,
}

/// Before you tune a kernel, find out what it waits for: bytes or operations? Return the least that
/// a layer costs, and the least time that it takes.
///
/// - A multiply-add is two operations, and there is one for each weight and row.
/// - The weights are read once for all rows. The rows of `x`, `[rows, n_in]`, are read once, and
///   the rows of the result, `[rows, n_out]`, are written once; both are f32.
/// - Bytes and operations go on at the same time. If both take equally long, the layer does not
///   wait for bytes.
///
/// ```text
/// n_out 4, n_in 2, 1 row, f32; 10 bytes and 8 operations a second
///
/// bytes    4 * 2 * 4 + 2 * 4 + 4 * 4 = 56     5.6 seconds
/// flops    2 * 4 * 2                 = 16     2 seconds
/// ```
pub fn place(layer: Linear, machine: Machine) -> Place {
    todo!()
}
