//! Both times are added.

#[derive(Debug, Clone, Copy)]
pub struct Linear {
    pub n_out: u64,
    pub n_in: u64,
    pub rows: u64,
    pub bytes_of_a_weight: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub bytes_per_second: f64,
    pub flops_per_second: f64,
}

#[derive(Debug, PartialEq)]
pub struct Place {
    pub bytes: u64,
    pub flops: u64,
    pub seconds: f64,
    pub waits_for_bytes: bool,
}

pub fn place(layer: Linear, machine: Machine) -> Place {
    let Linear { n_out, n_in, rows, bytes_of_a_weight } = layer;
    let bytes = n_out * n_in * bytes_of_a_weight + 4 * rows * (n_in + n_out);
    let flops = 2 * rows * n_out * n_in;
    let memory = bytes as f64 / machine.bytes_per_second;
    let arithmetic = flops as f64 / machine.flops_per_second;
    Place {
        bytes,
        flops,
        seconds: memory + arithmetic,
        waits_for_bytes: memory > arithmetic,
    }
}
