//! By the arithmetic intensity, and where the two sides of the roof meet.

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
    let weights = layer.n_out * layer.n_in;
    let rows = layer.rows * layer.n_in + layer.rows * layer.n_out;
    let bytes = weights * layer.bytes_of_a_weight + rows * 4;
    let flops = weights * layer.rows * 2;
    let intensity = flops as f64 / bytes as f64;
    let ridge = machine.flops_per_second / machine.bytes_per_second;
    let reachable = machine.flops_per_second.min(intensity * machine.bytes_per_second);
    Place {
        bytes,
        flops,
        seconds: flops as f64 / reachable,
        waits_for_bytes: intensity < ridge,
    }
}
