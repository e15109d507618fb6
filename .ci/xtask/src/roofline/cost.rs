//! Operations and bytes of a forward pass.

use slowburn::model::config::{Family, Mixer, Mlp};
use slowburn::model::{Model, ModelConfig};

/// The dimensions of a model that determine the cost of a forward pass. The rest (norms, rotations,
/// activations, the rows of the embedding) is at most a hundredth of it.
#[derive(Debug, Clone)]
pub struct Shape {
    layers: Vec<Layer>,
    /// Weights of the head.
    head_weights: usize,
    /// Bytes per stored element.
    size: usize,
    pub context: usize,
}

/// What a layer multiplies by, and what it attends to.
#[derive(Debug, Clone)]
struct Layer {
    /// Weights of the matrices that all tokens multiply by.
    weights: usize,
    experts: Option<Experts>,
    /// How many positions a query attends to; none: all of them.
    window: Option<usize>,
    /// Elements of all query heads of a position.
    queries: usize,
    /// Elements that are kept of a position.
    kept: usize,
    /// Whether it attends to keys and values. A state is left out: it is read once in a pass.
    has_keys: bool,
}

#[derive(Debug, Clone)]
struct Experts {
    count: usize,
    per_token: usize,
    /// Weights of one of them.
    weights: usize,
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
        Self {
            layers: (0..config.n_layers).map(|index| Layer::of(config, index)).collect(),
            head_weights: config.d_model * config.vocab_size,
            size: model.dtype().size(),
            context: config.context_length,
        }
    }

    /// The bytes of all weights, those of experts that a pass does not read included.
    pub fn weight_bytes(&self) -> f64 {
        let layers: usize = self.layers.iter().map(Layer::all_weights).sum();
        (self.size * (layers + self.head_weights)) as f64
    }

    /// A forward pass of `sequences` sequences with `new` tokens each, after `before` cached ones.
    /// With `head`, logits are computed for the last token of each sequence.
    pub fn pass(&self, sequences: usize, before: usize, new: usize, head: bool) -> Cost {
        let head_weights = if head { self.head_weights } else { 0 };
        let (mut products, mut attention, mut cache) = (head_weights, 0, 0);
        let mut weights = head_weights as f64;
        for layer in &self.layers {
            products += new * layer.weights_of_a_token();
            // Queries times keys, then attention weights times values.
            if layer.has_keys {
                let seen: usize = (before + 1..=before + new).map(|end| layer.seen(end)).sum();
                attention += 2 * layer.queries * seen;
                cache += layer.kept * (layer.seen(before + 1) + new - 1);
            }
            weights += layer.weights_of_a_pass(sequences * new);
        }
        Cost {
            flops: 2.0 * (sequences * (products + attention)) as f64,
            bytes: self.size as f64 * (weights + (sequences * cache) as f64),
        }
    }
}

impl Layer {
    fn of(config: &ModelConfig, index: usize) -> Self {
        let mixing = config.mixing_weights(index);
        let heads = config.kv_heads(index);
        let (queries, kept) = (config.n_heads * heads.head_dim, heads.numbers());
        let Family::Llama(llama) = &config.family else {
            // Up and down projections.
            let weights = mixing + 2 * config.d_model * config.d_ff;
            return Self {
                weights,
                experts: None,
                window: None,
                queries,
                kept,
                has_keys: true,
            };
        };
        let layer = llama.layer(index);
        // Gate, up and down projections.
        let gated = |d_ff: usize| 3 * config.d_model * d_ff;
        let dense = gated(layer.d_ff.unwrap_or(config.d_ff));
        let (weights, experts) = match &layer.mlp {
            Mlp::Dense => (dense, None),
            Mlp::Experts(of) | Mlp::Beside(of) => {
                let (count, per_token, weights) = (of.count, of.per_token, gated(of.d_ff));
                let router = count * config.d_model + gated(of.shared.unwrap_or(0));
                let beside = if let Mlp::Beside(_) = layer.mlp {
                    dense
                } else {
                    0
                };
                (router + beside, Some(Experts { count, per_token, weights }))
            }
        };
        let has_keys = layer.mixer == Mixer::Attention;
        Self {
            weights: mixing + weights,
            experts,
            window: layer.window,
            queries,
            kept,
            has_keys,
        }
    }

    fn all_weights(&self) -> usize {
        self.weights + self.experts.as_ref().map_or(0, |experts| experts.count * experts.weights)
    }

    /// The weights that a token multiplies by.
    fn weights_of_a_token(&self) -> usize {
        let of_experts = self.experts.as_ref().map_or(0, |of| of.per_token * of.weights);
        self.weights + of_experts
    }

    /// The weights that a pass of so many tokens reads. Each reads its own experts, and those that several
    /// take are read once: if each is as likely as any other, a share of
    /// `1 - (1 - per_token / count)^tokens` of them.
    fn weights_of_a_pass(&self, tokens: usize) -> f64 {
        let of_experts = self.experts.as_ref().map_or(0.0, |of| {
            let idle = 1.0 - of.per_token as f64 / of.count as f64;
            (of.count * of.weights) as f64 * (1.0 - idle.powi(tokens as i32))
        });
        self.weights as f64 + of_experts
    }

    /// How many positions the last of `end` attends to.
    fn seen(&self, end: usize) -> usize {
        self.window.map_or(end, |window| window.min(end))
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

    const LAYER: Layer = Layer {
        weights: 100,
        experts: None,
        window: None,
        queries: 8,
        kept: 8,
        has_keys: true,
    };

    /// Two layers of 100 weights each, a head of 50.
    pub fn shape() -> Shape {
        Shape {
            layers: vec![LAYER; 2],
            head_weights: 50,
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
    fn a_token_reads_its_own_experts_and_a_batch_those_of_all() {
        let experts = Experts { count: 8, per_token: 2, weights: 30 };
        let layers = vec![Layer { experts: Some(experts), ..LAYER }];
        let shape = Shape { layers, ..shape() };
        assert_eq!(shape.weight_bytes(), 4.0 * (100.0 + 8.0 * 30.0 + 50.0));
        let one = shape.pass(1, 3, 1, true);
        assert_eq!(one.flops, 2.0 * (100.0 + 60.0 + 50.0 + 64.0));
        assert_eq!(one.bytes, 4.0 * (100.0 + 60.0 + 50.0 + 32.0));
        // Two tokens take 2 of 8 each, and a quarter of those of the second are also the first's.
        let two = shape.pass(2, 3, 1, true);
        assert_eq!(two.flops, 2.0 * one.flops);
        assert_eq!(two.bytes, 4.0 * (100.0 + 30.0 * 3.5 + 50.0 + 2.0 * 32.0));
        let many = shape.pass(1, 0, 1000, false);
        assert!((many.bytes - 4.0 * (100.0 + 240.0 + 8.0 * 1000.0)).abs() < 1e-6);
    }

    #[test]
    fn a_window_bounds_what_is_looked_at_and_read() {
        let layers = vec![Layer { window: Some(3), ..LAYER }];
        let shape = Shape { layers, ..shape() };
        // One token after nine looks at three, itself included.
        let decode = shape.pass(1, 9, 1, false);
        assert_eq!(decode.flops, 2.0 * (100.0 + 16.0 * 3.0));
        assert_eq!(decode.bytes, 4.0 * (100.0 + 8.0 * 3.0));
        // Four tokens after nothing look at 1, 2, 3 and 3.
        let prefill = shape.pass(1, 0, 4, false);
        assert_eq!(prefill.flops, 2.0 * (400.0 + 16.0 * 9.0));
        assert_eq!(prefill.bytes, 4.0 * (100.0 + 8.0 * 4.0));
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
