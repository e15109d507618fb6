//! A model on several GPUs: what each computes, and what goes over the wires between them.

use std::fmt;

use super::cost::StepCost;
use super::preset::{BYTES, Gpu, Model, OF_MEMORY};

/// A wire between two GPUs. The bandwidths are those of data sheets, in one direction; the
/// latencies of a message are assumptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interconnect {
    pub name: &'static str,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Seconds.
    pub latency: f64,
}

impl Interconnect {
    /// Between the GPUs of one machine, by their own switch: 900 GB/s in both directions.
    pub const NVLINK: Self = Self { name: "NVLink 4", bandwidth: 450e9, latency: 5e-6 };
    /// Through the machine: 16 lanes of PCI Express 5.
    pub const PCIE: Self = Self { name: "PCIe 5 x16", bandwidth: 64e9, latency: 10e-6 };
    /// Between machines: InfiniBand NDR, 400 Gbit/s.
    pub const INFINIBAND: Self = Self { name: "InfiniBand NDR", bandwidth: 50e9, latency: 10e-6 };
    /// Between machines: Ethernet of 100 Gbit/s.
    pub const ETHERNET_100: Self =
        Self { name: "100 Gbit Ethernet", bandwidth: 12.5e9, latency: 30e-6 };
    /// Between machines: Ethernet of 10 Gbit/s.
    pub const ETHERNET_10: Self =
        Self { name: "10 Gbit Ethernet", bandwidth: 1.25e9, latency: 50e-6 };

    pub const ALL: [Self; 5] = [
        Self::NVLINK,
        Self::PCIE,
        Self::INFINIBAND,
        Self::ETHERNET_100,
        Self::ETHERNET_10,
    ];

    /// The seconds of a message.
    pub fn seconds(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }
}

/// How a model is divided among GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each GPU has the whole model.
    Whole,
    /// Each of so many GPUs has a part of every matrix (tensor parallel).
    Tensor(usize),
    /// Each of so many GPUs has some of the layers (pipeline parallel).
    Pipeline(usize),
}

impl fmt::Display for Layout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => write!(out, "whole"),
            Self::Tensor(gpus) => write!(out, "tensor parallel, {gpus} GPUs"),
            Self::Pipeline(gpus) => write!(out, "pipeline parallel, {gpus} GPUs"),
        }
    }
}

impl Layout {
    /// How many GPUs have the model together.
    pub fn gpus(self) -> usize {
        match self {
            Self::Whole => 1,
            Self::Tensor(gpus) | Self::Pipeline(gpus) => gpus,
        }
    }

    /// How many batches they compute at the same time: the stages of a pipeline have one each.
    pub fn batches(self) -> usize {
        match self {
            Self::Whole | Self::Tensor(_) => 1,
            Self::Pipeline(stages) => stages,
        }
    }

    /// The bytes that one GPU sends for each token of a step. With tensor parallelism each layer
    /// has two matrices after which the partial sums of all GPUs are added, an all-reduce of a
    /// hidden state. In a ring each GPU sends all but a share of it twice. In a pipeline a stage
    /// sends the hidden state to the next.
    pub fn bytes_per_token(self, model: &Model) -> f64 {
        let hidden = BYTES * model.hidden_size();
        match self {
            Self::Whole => 0.0,
            Self::Tensor(gpus) => {
                let gpus = gpus as f64;
                2.0 * model.n_layers * 2.0 * (gpus - 1.0) / gpus * hidden
            }
            Self::Pipeline(_) => hidden,
        }
    }

    /// The messages of a step that wait for each other. A ring passes its data on `gpus - 1` times
    /// to add, and as often to distribute the sum.
    pub fn messages(self, model: &Model) -> f64 {
        match self {
            Self::Whole => 0.0,
            Self::Tensor(gpus) => 2.0 * model.n_layers * 2.0 * (gpus as f64 - 1.0),
            Self::Pipeline(stages) => stages as f64 - 1.0,
        }
    }

    /// The cost of a step. Tensor parallelism divides all work. A pipeline divides none of it: a
    /// batch passes through all stages, which read their weights one after the other, and other
    /// batches are in the other stages meanwhile.
    pub fn cost(self, model: &Model, gpu: &Gpu, wire: &Interconnect) -> StepCost {
        let whole = model.cost(gpu);
        let share = match self {
            Self::Tensor(gpus) => 1.0 / gpus as f64,
            Self::Whole | Self::Pipeline(_) => 1.0,
        };
        let mut divided =
            StepCost::from_coefficients(whole.coefficients().map(|cost| share * cost));
        let hops = match self {
            Self::Whole | Self::Tensor(_) => 1.0,
            Self::Pipeline(stages) => stages as f64 - 1.0,
        };
        let token = hops * self.bytes_per_token(model) / wire.bandwidth;
        divided.fixed += self.messages(model) * wire.latency;
        divided.prefill_token += token;
        divided.decode_token += token;
        divided
    }

    /// The positions of keys and values of one batch, or none if the weights do not fit.
    pub fn kv_cache(self, model: &Model, gpu: &Gpu) -> Option<usize> {
        let memory = self.gpus() as f64 * OF_MEMORY * gpu.memory;
        let free = (memory - model.weight_bytes()) / self.batches() as f64;
        (free > 0.0).then(|| (free / model.position_bytes()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset::{H100, Shape};
    use super::*;

    #[test]
    fn the_bytes_of_a_token_can_be_counted_by_hand() {
        let model = Shape::Llama8b.model();
        // A hidden state of 4096 numbers in bf16.
        assert_eq!(Layout::Pipeline(4).bytes_per_token(&model), 8192.0);
        // 32 layers, 2 all-reduces, of which each GPU of 2 sends half twice.
        assert_eq!(Layout::Tensor(2).bytes_per_token(&model), 64.0 * 8192.0);
        assert_eq!(Layout::Tensor(8).bytes_per_token(&model), 64.0 * 8192.0 * 1.75);
        assert_eq!(Layout::Tensor(2).messages(&model), 128.0);
        assert_eq!(Layout::Whole.bytes_per_token(&model), 0.0);
    }

    #[test]
    fn tensor_parallelism_shortens_a_step_where_the_wire_is_fast() {
        let model = Shape::Llama70b.model();
        let step = |layout: Layout, wire: Interconnect| layout.cost(&model, &H100, &wire).fixed;
        let whole = step(Layout::Whole, Interconnect::NVLINK);
        let nvlink = step(Layout::Tensor(8), Interconnect::NVLINK);
        assert!(nvlink < 0.4 * whole, "{nvlink} of {whole}");
        assert!(step(Layout::Tensor(8), Interconnect::ETHERNET_10) > whole);
        let pipeline = step(Layout::Pipeline(8), Interconnect::ETHERNET_10);
        assert!(pipeline > whole && pipeline < 1.05 * whole);
    }

    #[test]
    fn what_does_not_fit_into_one_gpu_fits_into_several() {
        let model = Shape::Llama70b.model();
        assert_eq!(Layout::Whole.kv_cache(&model, &H100), None);
        let two = Layout::Tensor(2).kv_cache(&model, &H100).unwrap();
        let four = Layout::Tensor(4).kv_cache(&model, &H100).unwrap();
        assert!(four > 10 * two, "{two} {four}");
        // The same memory, shared by the batches of the stages.
        let stages = Layout::Pipeline(4).kv_cache(&model, &H100).unwrap();
        assert!(stages.abs_diff(four / 4) <= 1);
    }
}
