//! A roofline by hand.
//!
//! Why: two numbers of a machine and two of a layer tell you the least time that it can take. Rows
//! multiply the operations and leave the bytes of the weights as they are, so many rows move a
//! layer from one side of the roof to the other.
//!
//! What it costs: nothing but counting. What it leaves out: caches, which make bytes cheaper, and
//! everything that keeps a kernel from its limit.
//!
//! A common wrong turn: adding both times. A processor loads the next weights while it multiplies
//! the current ones.

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

/// The least that a layer costs, and the least time that it takes.
pub fn place(layer: Linear, machine: Machine) -> Place {
    let Linear { n_out, n_in, rows, bytes_of_a_weight } = layer;
    let bytes = n_out * n_in * bytes_of_a_weight + 4 * rows * (n_in + n_out);
    let flops = 2 * rows * n_out * n_in;
    let memory = bytes as f64 / machine.bytes_per_second;
    let arithmetic = flops as f64 / machine.flops_per_second;
    Place {
        bytes,
        flops,
        seconds: memory.max(arithmetic),
        waits_for_bytes: memory > arithmetic,
    }
}
