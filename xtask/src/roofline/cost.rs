//! Operations and bytes of a forward pass.

use slowburn::model::Model;
use slowburn::model::config::Family;

/// The dimensions of a model that determine the cost of a forward pass. The rest (norms, rotations,
/// activations, the rows of the embedding) is at most a hundredth of it.
#[derive(Debug, Clone)]
pub struct Shape {
    layers: usize,
    /// Weights of a layer's matrices.
    layer_weights: usize,
    /// Weights of the head.
    head_weights: usize,
    /// Elements of all query heads of a position.
    queries: usize,
    /// Elements of all key heads of a position, and of all value heads.
    keys: usize,
    /// Bytes per stored element.
    size: usize,
    pub context: usize,
}

/// The operations and the bytes of a computation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Floating-point operations; a multiply-add is two.
    pub flops: f64,
    pub bytes: f64,
}

impl Shape {
    pub fn of(model: &Model) -> Self {
        let config = model.config();
        let queries = config.n_heads * config.head_dim;
        let keys = config.n_kv_heads * config.head_dim;
        // Gate, up and down projections.
        let matrices = match config.family {
            Family::Llama(_) => 3,
            _ => 2,
        };
        let attention = 2 * queries + 2 * keys;
        Self {
            layers: config.n_layers,
            layer_weights: config.d_model * (attention + matrices * config.d_ff),
            head_weights: config.d_model * config.vocab_size,
            queries,
            keys,
            size: model.dtype().size(),
            context: config.context_length,
        }
    }

    /// The bytes of all weights that a forward pass reads.
    pub fn weight_bytes(&self) -> f64 {
        (self.size * (self.layers * self.layer_weights + self.head_weights)) as f64
    }

    /// A forward pass of `sequences` sequences with `new` tokens each, after `before` cached ones.
    /// With `head`, logits are computed for the last token of each sequence.
    pub fn pass(&self, sequences: usize, before: usize, new: usize, head: bool) -> Cost {
        let head_weights = if head { self.head_weights } else { 0 };
        let products = self.layers * self.layer_weights * new + head_weights;
        // Each new token attends to all before it and to itself.
        let seen: usize = (before + 1..=before + new).sum();
        // Queries times keys, then attention weights times values.
        let attention = self.layers * 2 * self.queries * seen;
        let cache = self.layers * 2 * self.keys * (before + new);
        let weights = self.layers * self.layer_weights + head_weights;
        Cost {
            flops: 2.0 * (sequences * (products + attention)) as f64,
            bytes: (self.size * (weights + sequences * cache)) as f64,
        }
    }
}

impl Cost {
    /// Arithmetic intensity, in operations per byte.
    pub fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            flops: sum.flops + cost.flops,
            bytes: sum.bytes + cost.bytes,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use slowburn::device::Precision;

    use super::*;
    use crate::bench::Ours;

    /// Two layers of 100 weights each, a head of 50.
    pub fn shape() -> Shape {
        Shape {
            layers: 2,
            layer_weights: 100,
            head_weights: 50,
            queries: 8,
            keys: 4,
            size: 4,
            context: 512,
        }
    }

    #[test]
    fn a_pass_multiplies_by_all_weights_and_looks_at_all_tokens() {
        // One token after three: 250 weights, and 2 layers of 8 query elements, twice, for 4
        // tokens. Bytes: the weights, and the keys and values of 4 tokens in 2 layers.
        let decode = shape().pass(1, 3, 1, true);
        assert_eq!(decode.flops, 2.0 * (250.0 + 128.0));
        assert_eq!(decode.bytes, 4.0 * (250.0 + 64.0));
        // Three tokens that attend to 1, 2 and 3 tokens, without the head.
        let prefill = shape().pass(1, 0, 3, false);
        assert_eq!(prefill.flops, 2.0 * (600.0 + 32.0 * 6.0));
        assert_eq!(prefill.bytes, 4.0 * (200.0 + 48.0));
    }

    #[test]
    fn a_batch_reads_the_weights_once() {
        let (one, eight) = (shape().pass(1, 3, 1, true), shape().pass(8, 3, 1, true));
        assert_eq!(eight.flops, 8.0 * one.flops);
        assert_eq!(eight.bytes, one.bytes + 7.0 * 4.0 * 64.0);
    }

    #[test]
    fn the_weights_of_the_bundled_model_are_nearly_all_that_it_has() {
        for dtype in [Precision::F32, Precision::F16] {
            let model = Ours::load(None, dtype, 1).unwrap().model;
            let share = Shape::of(&model).weight_bytes() / model.bytes() as f64;
            assert!((0.98..=1.0).contains(&share), "{}: {share}", dtype.name());
        }
    }
}
