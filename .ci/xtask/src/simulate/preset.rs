//! Costs from first principles.

use clap::ValueEnum;

use super::cost::StepCost;

/// A model on a machine, known by the numbers of their data sheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Llama 3 8B in bf16 on an NVIDIA H100 SXM
    #[value(name = "llama-8b-h100")]
    Llama8bH100,
}

/// A model whose configuration is published, in bf16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// Llama 3 8B
    #[value(name = "llama-8b")]
    Llama8b,
    /// Llama 3 70B, which does not fit into one H100
    #[value(name = "llama-70b")]
    Llama70b,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama8b => "Llama 3 8B",
            Self::Llama70b => "Llama 3 70B",
        }
    }

    pub fn model(self) -> Model {
        match self {
            Self::Llama8b => LLAMA_8B,
            Self::Llama70b => LLAMA_70B,
        }
    }
}

/// The dimensions of a Llama model in bf16. The hidden size is `n_heads * head_dim`.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub parameters: f64,
    pub n_layers: f64,
    pub n_heads: f64,
    pub n_kv_heads: f64,
    pub head_dim: f64,
}

/// The peaks of a GPU's data sheet.
#[derive(Debug, Clone, Copy)]
pub struct Gpu {
    /// Bytes per second.
    pub bandwidth: f64,
    /// Floating-point operations per second in dense bf16.
    pub arithmetic: f64,
    /// Bytes.
    pub memory: f64,
}

/// The configuration in `meta-llama/Meta-Llama-3-8B`.
const LLAMA_8B: Model = Model {
    parameters: 8.03e9,
    n_layers: 32.0,
    n_heads: 32.0,
    n_kv_heads: 8.0,
    head_dim: 128.0,
};

/// The configuration in `meta-llama/Meta-Llama-3-70B`.
const LLAMA_70B: Model = Model {
    parameters: 70.6e9,
    n_layers: 80.0,
    n_heads: 64.0,
    n_kv_heads: 8.0,
    head_dim: 128.0,
};

/// NVIDIA H100 Tensor Core GPU data sheet, SXM: 3.35 TB/s, 989 Tflop/s (half of the number with
/// sparsity), 80 GB.
pub const H100: Gpu = Gpu { bandwidth: 3.35e12, arithmetic: 989e12, memory: 80e9 };

/// The tokens of both models: the context that they were trained with, and the vocabulary.
pub const CONTEXT: usize = 8192;
pub const VOCAB: usize = 128_256;

pub const BYTES: f64 = 2.0;
/// Assumptions: the shares of its peaks that a good engine reaches, and the share of the memory
/// that holds weights, keys and values; the rest is for activations.
const OF_BANDWIDTH: f64 = 0.8;
const OF_ARITHMETIC: f64 = 0.5;
pub const OF_MEMORY: f64 = 0.9;

impl Model {
    /// A step reads all weights once. A token multiplies by all of them: two operations each. A
    /// decode reads the keys and values of every position that it attends to. A prompt token shares
    /// that with many others, and multiplies: two operations for the elements of its queries with
    /// the keys, and two with the values.
    pub fn cost(&self, gpu: &Gpu) -> StepCost {
        let bandwidth = OF_BANDWIDTH * gpu.bandwidth;
        let arithmetic = OF_ARITHMETIC * gpu.arithmetic;
        let token = 2.0 * self.parameters / arithmetic;
        StepCost {
            fixed: self.weight_bytes() / bandwidth,
            prefill_token: token,
            decode_token: token,
            decode_position: self.position_bytes() / bandwidth,
            prefill_position: 4.0 * self.n_layers * self.hidden_size() / arithmetic,
        }
    }

    pub fn weight_bytes(&self) -> f64 {
        BYTES * self.parameters
    }

    pub fn hidden_size(&self) -> f64 {
        self.n_heads * self.head_dim
    }

    /// The keys and values of a position.
    pub fn position_bytes(&self) -> f64 {
        2.0 * BYTES * self.n_layers * self.n_kv_heads * self.head_dim
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Layout;
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_data_sheets() {
        let cost = LLAMA_8B.cost(&H100);
        // 16 GB at 2.7 TB/s; 16 Gflop at 495 Tflop/s; 128 KiB of keys and values.
        assert!((cost.fixed * 1e3 - 5.99).abs() < 0.01, "{cost}");
        assert!((cost.prefill_token * 1e6 - 32.5).abs() < 0.1, "{cost}");
        assert!((cost.decode_position * 1e9 - 48.9).abs() < 0.1, "{cost}");
        assert!((cost.prefill_position * 1e9 - 1.06).abs() < 0.01, "{cost}");
        let kv_cache = Layout::Whole.kv_cache(&LLAMA_8B, &H100).unwrap();
        assert!((420_000..430_000).contains(&kv_cache), "{kv_cache}");
    }
}
