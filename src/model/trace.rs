//! What a pass computes on its way: what each position attends to, and every number of one token.

use burn::tensor::{Int, Tensor, s};

use super::architecture::to_host;
use super::attention::merge_heads;
use super::config::{Family, KvHeads, ModelConfig};
use super::decoder::{Block, Decoder, Mixing, Network, applied};
use super::host::{Llama, Stop};
use super::pass::Pass;
use super::residual::Residual;
use super::rope::{Ropes, Rotation, rotated};
use super::{Input, Model};
use crate::error::{Error, Result};
use crate::kernels::Scoring;

/// What becomes of the last token of a text, from its embedding to the logits. Keys and values are those
/// of this token; the earlier ones take part in `weights` and `mixed`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// `[d_model]`
    pub embedding: Vec<f32>,
    pub layers: Vec<LayerTrace>,
    /// `[d_model]`, after the last norm.
    pub norm: Vec<f32>,
    /// `[vocab]`
    pub logits: Vec<f32>,
}

/// The stops within a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LayerTrace {
    /// `[d_model]`, normed.
    pub attention_input: Vec<f32>,
    /// `[n_heads * head_dim]`, before RoPE.
    pub query: Vec<f32>,
    /// `[n_kv_heads * head_dim]`, before RoPE.
    pub key: Vec<f32>,
    /// `[n_kv_heads * head_dim]`
    pub value: Vec<f32>,
    pub rotated_query: Vec<f32>,
    pub rotated_key: Vec<f32>,
    /// `[n_heads][seq]`: how much of each value each head takes up.
    pub weights: Vec<Vec<f32>>,
    /// `[n_heads * head_dim]`: the values, times the weights.
    pub mixed: Vec<f32>,
    /// `[d_model]`: what attention adds.
    pub attention: Vec<f32>,
    /// `[d_model]`: the sum.
    pub after_attention: Vec<f32>,
    /// `[d_model]`, normed.
    pub feed_forward_input: Vec<f32>,
    /// `[experts]`: the weight of each expert, and 0 for those that the token does not take. Empty in a
    /// layer with one feed-forward network.
    pub routing: Vec<f32>,
    /// `[d_ff]`. Empty in a layer with experts alone, and so are the next two.
    pub gate: Vec<f32>,
    /// `[d_ff]`
    pub up: Vec<f32>,
    /// `[d_ff]`: the activated gate, times `up`.
    pub gated: Vec<f32>,
    /// `[d_model]`: what the feed-forward network adds.
    pub feed_forward: Vec<f32>,
    /// `[d_model]`: the sum, which the next block reads.
    pub output: Vec<f32>,
}

impl Model {
    /// What each position of a text attends to: for every layer and head, `[seq, seq]` weights, where
    /// each row is a position and sums to 1. Layers with a state instead of keys and values have no heads.
    ///
    /// This runs the whole network over the text. Weights are computed from its queries and keys in
    /// plain loops: they may differ from those of the pass in the last digits. A stub has no layers.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn attention(&self, ids: &[u32]) -> Result<Vec<Vec<Vec<Vec<f32>>>>> {
        let layers = self.watched(ids, |pass| self.network.queries_and_keys(ids, pass))?;
        let sinks = self.network.sinks()?;
        let of_layer = |(layer, queries_and_keys): (usize, Option<[Vec<f32>; 2]>)| {
            let Some([q, k]) = queries_and_keys else {
                return Vec::new();
            };
            let sinks = sinks.get(layer).and_then(Option::as_deref);
            let scoring = Scoring { sinks, ..scoring_of(&self.config, layer) };
            let n_heads = self.config.n_heads;
            let head_dim = q.len() / ids.len() / n_heads;
            let kv_heads = KvHeads::new(k.len() / ids.len() / head_dim, head_dim);
            let mut heads = vec![Vec::new(); n_heads];
            for (position, q) in q.chunks_exact(q.len() / ids.len()).enumerate() {
                let seen = &k[..k.len() / ids.len() * (position + 1)];
                let weights = weights_of(kv_heads, scoring, q, seen);
                for (head, mut weights) in heads.iter_mut().zip(weights) {
                    weights.resize(ids.len(), 0.0);
                    head.push(weights);
                }
            }
            heads
        };
        Ok(layers.into_iter().enumerate().map(of_layer).collect())
    }

    /// Follows the last token of a text through the network. None for a family whose blocks have other
    /// parts than those of Llama, and for a stub.
    ///
    /// Everything has the bits of [`forward`](Self::forward), but for the weights, which are computed
    /// as in [`attention`](Self::attention).
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn trace(&self, ids: &[u32]) -> Result<Option<Trace>> {
        self.watched(ids, |pass| self.network.trace(ids, pass, &self.config))
    }

    /// Which experts each position of a text takes: for each layer with experts, `[seq, experts]`
    /// weights, which are 0 for those that it does not take. Empty on other devices than the CPU.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn routing(&self, ids: &[u32]) -> Result<Vec<Vec<f32>>> {
        self.watched(ids, |pass| Ok(self.network.routing(ids, pass)))
    }

    /// Runs `watch` with a pass for one whole text.
    fn watched<T>(&self, ids: &[u32], watch: impl FnOnce(&mut Pass<'_>) -> Result<T>) -> Result<T> {
        self.check_prompt(ids)?;
        self.enter(|| {
            let mut caches = self.caches_for_whole(&[Input::whole(ids)])?;
            let _held = self.kv_pool.hold();
            let mut pass = Pass::default();
            pass.push(ids.len(), caches.first_mut());
            watch(&mut pass)
        })
    }
}

impl Llama {
    /// As [`Decoder::trace`].
    pub(super) fn trace(&self, row: &[u32], pass: &mut Pass<'_>, config: &ModelConfig) -> Trace {
        let last = |x: &[f32]| x[x.len() - x.len() / row.len()..].to_vec();
        let mut layers = Vec::new();
        let hidden = self.hidden_states(row, pass, &mut |stop, x| {
            if stop == Stop::AttentionInput {
                layers.push(LayerTrace::default());
            }
            let Some(layer) = layers.last_mut() else {
                return;
            };
            *layer.at(stop) = last(x);
            if stop == Stop::RotatedKey {
                let index = layers.len() - 1;
                let (scoring, kv_heads) = (self.scoring(index), config.kv_heads(index));
                if let (Some(layer), Some(scoring)) = (layers.last_mut(), scoring) {
                    layer.weights = weights_of(kv_heads, scoring, &layer.rotated_query, x);
                }
            }
        });
        let norm = last(&hidden);
        Trace {
            embedding: last(&self.embed(row)),
            layers,
            logits: self.logits(&norm, 1),
            norm,
        }
    }
}

impl LayerTrace {
    fn at(&mut self, stop: Stop) -> &mut Vec<f32> {
        match stop {
            Stop::AttentionInput => &mut self.attention_input,
            Stop::Query => &mut self.query,
            Stop::Key => &mut self.key,
            Stop::Value => &mut self.value,
            Stop::RotatedQuery => &mut self.rotated_query,
            Stop::RotatedKey => &mut self.rotated_key,
            Stop::Mixed => &mut self.mixed,
            Stop::Attention => &mut self.attention,
            Stop::AfterAttention => &mut self.after_attention,
            Stop::FeedForwardInput => &mut self.feed_forward_input,
            Stop::Routing => &mut self.routing,
            Stop::Gate => &mut self.gate,
            Stop::Up => &mut self.up,
            Stop::Gated => &mut self.gated,
            Stop::FeedForward => &mut self.feed_forward,
            Stop::Output => &mut self.output,
        }
    }
}

impl Decoder {
    /// As [`hidden_states`](Self::hidden_states) and [`logits`](Self::logits), with every number of the
    /// last token.
    pub(super) fn trace(
        &self,
        ids: Tensor<2, Int>,
        ropes: &Ropes,
        pass: &mut Pass<'_>,
    ) -> Result<Trace> {
        let rotations = ropes.rotations(&pass.positions(), &ids.device());
        let mut x = self.embed(ids.clone());
        let embedding = last(&x)?;
        let inputs = self.layer_inputs.as_ref().map(|inputs| inputs.forward(ids, x.clone()));
        let mut layers = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            let (output, trace) = layer.trace(x, &rotations, pass)?;
            let mut stream = Residual::new(output);
            layer.end(&mut stream, inputs.as_ref(), i);
            x = stream.sum();
            layers.push(LayerTrace { output: last(&x)?, ..trace });
        }
        let norm = self.norm.forward(x);
        Ok(Trace {
            embedding,
            layers,
            norm: last(&norm)?,
            logits: last(&self.logits(norm))?,
        })
    }
}

impl Block {
    /// As `forward`, part by part: `[1, seq, d_model]` -> the same shape.
    fn trace(
        &self,
        x: Tensor<3>,
        rotations: &[Rotation],
        pass: &mut Pass<'_>,
    ) -> Result<(Tensor<3>, LayerTrace)> {
        let attention_input = applied(&self.input_layernorm, x.clone());
        let (of_mixing, mixed) = self.mixing.trace(attention_input.clone(), rotations, pass)?;
        let mixed = self.added(&self.attention_output_norm, mixed);
        let after_attention = x + mixed.clone();

        let feed_forward_input = applied(&self.post_attention_layernorm, after_attention.clone());
        let (of_mlp, feed_forward) =
            self.mlp.trace(feed_forward_input.clone(), &after_attention)?;
        let feed_forward = self.added(&self.mlp_output_norm, feed_forward);
        let output = after_attention.clone() + feed_forward.clone();
        let LayerTrace { routing, gate, up, gated, .. } = of_mlp;
        let trace = LayerTrace {
            attention_input: last(&attention_input)?,
            attention: last(&mixed)?,
            after_attention: last(&after_attention)?,
            feed_forward_input: last(&feed_forward_input)?,
            routing,
            gate,
            up,
            gated,
            feed_forward: last(&feed_forward)?,
            ..of_mixing
        };
        Ok((output, trace))
    }
}

impl Mixing {
    /// As `forward`, with its own part of a trace.
    fn trace(
        &self,
        x: Tensor<3>,
        rotations: &[Rotation],
        pass: &mut Pass<'_>,
    ) -> Result<(LayerTrace, Tensor<3>)> {
        let of_state = |mixed: &Tensor<3>| {
            Ok::<_, Error>(LayerTrace { mixed: last(mixed)?, ..LayerTrace::default() })
        };
        type Output<'a> = Box<dyn FnOnce(Tensor<4>) -> Tensor<3> + 'a>;
        let (([q, k, v], place, sinks, are_rotated), output): (_, Output<'_>) = match self {
            Self::Heads(attention) => {
                let ([q, k, v], gate) = attention.projected(x, pass);
                let [q, k] = attention.norm_heads([q, k]);
                let are_rotated = attention.k_proj.is_none(); // those of an earlier layer
                let output = |mixed| attention.output(mixed, gate);
                (([q, k, v], attention.place, attention.sinks(), are_rotated), Box::new(output))
            }
            Self::Latent(attention) => {
                let output = |mixed| attention.output(mixed);
                ((attention.projected(x), attention.place, None, false), Box::new(output))
            }
            Self::Convolution(convolution) => {
                let mixed = convolution.mixed(x, pass);
                return Ok((of_state(&mixed)?, convolution.output(mixed)));
            }
            Self::DeltaRule(rule) => {
                let mixed = rule.mixed(x, pass);
                return Ok((of_state(&mixed)?, rule.output(mixed)));
            }
        };
        let scoring = place.scoring;
        let [rotated_q, rotated_k] = rotated(place.rotation(rotations), [q.clone(), k.clone()]);
        let rotated_k = if are_rotated { k.clone() } else { rotated_k };
        if place.is_source {
            pass.keep(place.layer, [&rotated_k, &v]);
        }
        let [_, _, n_kv_heads, head_dim] = k.dims();
        let qkv = [rotated_q.clone(), rotated_k.clone(), v.clone()];
        let mixed = pass.attend(place.layer, qkv, scoring, sinks.clone());
        let rotated_query = last(&merge_heads(rotated_q))?;
        let keys = to_host(merge_heads(rotated_k.clone()))?;
        let sinks = sinks.map(to_host).transpose()?;
        let scoring = Scoring { sinks: sinks.as_deref(), ..scoring };
        let trace = LayerTrace {
            weights: weights_of(KvHeads::new(n_kv_heads, head_dim), scoring, &rotated_query, &keys),
            query: last(&merge_heads(q))?,
            key: last(&merge_heads(k))?,
            value: last(&merge_heads(v))?,
            rotated_query,
            rotated_key: last(&merge_heads(rotated_k))?,
            mixed: last(&merge_heads(mixed.clone()))?,
            ..LayerTrace::default()
        };
        Ok((trace, output(mixed)))
    }
}

impl Network {
    /// As `forward`, with its own part of a trace.
    fn trace(&self, x: Tensor<3>, sum: &Tensor<3>) -> Result<(LayerTrace, Tensor<3>)> {
        let network = match self {
            Self::Dense(network) => network,
            Self::Beside(both) => &both.dense,
            Self::Experts(experts) => {
                let routing = last(&experts.routing(x.clone()))?;
                return Ok((LayerTrace { routing, ..LayerTrace::default() }, experts.forward(x)));
            }
        };
        let [gate, up] =
            [&network.gate_proj, &network.up_proj].map(|linear| linear.forward(x.clone()));
        let gated = network.activation.gated(gate.clone(), up.clone());
        let trace = LayerTrace {
            gate: last(&gate)?,
            up: last(&up)?,
            gated: last(&gated)?,
            ..LayerTrace::default()
        };
        let output = network.down_proj.forward(gated);
        let Self::Beside(both) = self else {
            return Ok((trace, output));
        };
        let (routing, output) = both.beside(output, sum.clone());
        Ok((LayerTrace { routing: last(&routing)?, ..trace }, output))
    }
}

/// How a layer scores.
fn scoring_of(config: &ModelConfig, layer: usize) -> Scoring<'static> {
    match &config.family {
        Family::Llama(llama) => llama.scoring(layer, config.whole_heads(layer).head_dim),
        Family::Gpt2 => Scoring::new(config.head_dim),
    }
}

/// What a query attends to: for each head, a weight for each of the positions in `keys`,
/// `[seq, n_kv_heads * head_dim]`. `q` is `[n_heads * head_dim]`.
fn weights_of(
    KvHeads { n_kv_heads, head_dim, .. }: KvHeads,
    scoring: Scoring<'_>,
    q: &[f32],
    keys: &[f32],
) -> Vec<Vec<f32>> {
    let group = q.len() / (n_kv_heads * head_dim);
    let seq = keys.len() / (n_kv_heads * head_dim);
    let hidden = seq.saturating_sub(scoring.window.unwrap_or(seq)); // behind the window
    let of_head = |(head, q): (usize, &[f32])| {
        let start = head / group * head_dim;
        let score = |(position, keys): (usize, &[f32])| {
            let products = q.iter().zip(&keys[start..start + head_dim]).map(|(q, key)| q * key);
            let score = products.sum::<f32>() * scoring.scale;
            let score = scoring.softcap.map_or(score, |cap| cap * (score / cap).tanh());
            if position < hidden {
                f32::NEG_INFINITY
            } else {
                score
            }
        };
        let keys = keys.chunks_exact(n_kv_heads * head_dim).enumerate();
        let scores: Vec<f32> = keys.map(score).collect();
        let sink = scoring.sinks.map_or(f32::NEG_INFINITY, |sinks| sinks[head]);
        let greatest = scores.iter().copied().fold(sink, f32::max);
        let weights: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
        let sum: f32 = weights.iter().sum::<f32>() + (sink - greatest).exp();
        weights.iter().map(|weight| weight / sum).collect()
    };
    q.chunks_exact(head_dim).enumerate().map(of_head).collect()
}

/// The numbers of the last position of `[1, seq, width]`.
fn last(x: &Tensor<3>) -> Result<Vec<f32>> {
    let [_, seq, _] = x.dims();
    to_host(x.clone().slice(s![.., seq - 1.., ..]))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use std::fs;
    use std::path::Path;

    use burn::tensor::{DType, Device};

    use super::*;
    use crate::checkpoint::{Weights, safetensors::SafetensorsFile};
    use crate::model::Logits;
    use crate::model::architecture::Architecture;
    use crate::model::network::Network;

    const STOPS: [Stop; 16] = [
        Stop::AttentionInput,
        Stop::Query,
        Stop::Key,
        Stop::Value,
        Stop::RotatedQuery,
        Stop::RotatedKey,
        Stop::Mixed,
        Stop::Attention,
        Stop::AfterAttention,
        Stop::FeedForwardInput,
        Stop::Routing,
        Stop::Gate,
        Stop::Up,
        Stop::Gated,
        Stop::FeedForward,
        Stop::Output,
    ];

    /// Those of them that are of heads.
    const HEADS: [Stop; 6] = [
        Stop::Query,
        Stop::Key,
        Stop::Value,
        Stop::RotatedQuery,
        Stop::RotatedKey,
        Stop::Mixed,
    ];

    /// A fixture on the CPU: with the kernels, and with Burn's tensors.
    fn both_ways(name: &str) -> [Model; 2] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models").join(name);
        let config = fs::read(folder.join("config.json")).unwrap();
        let config = ModelConfig::from_json(&config, name).unwrap();
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "safetensors"));
        let files: Vec<Vec<u8>> = paths.map(|path| fs::read(path).unwrap()).collect();
        let files = files.iter().map(|bytes| SafetensorsFile::parse(bytes, name).unwrap());
        let device = Device::flex();
        let weights = Weights::from_files(files.collect(), name, &device, DType::F32).unwrap();
        let host = Model::load(config.clone(), &weights).unwrap();
        let mut tensors = Model::load(config.clone(), &weights).unwrap();
        let architecture = Architecture::load(&weights, &config).unwrap();
        tensors.network = Network::Tensors { architecture, device };
        [host, tensors]
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f32], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let greatest = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
        assert!(greatest < 1e-3, "{what}: {greatest}");
    }

    /// Burn's operations are the definition. The kernels add in another order.
    #[test]
    fn the_kernels_compute_what_the_tensors_define() {
        let ids = [5, 99, 17, 42, 260, 3, 8, 120, 77, 1, 200, 54];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models");
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        for entry in entries.filter(|entry| entry.file_type().unwrap().is_dir()) {
            let name = entry.file_name();
            let name = name.to_str().unwrap();
            let [host, tensors] = both_ways(name);
            let all = |model: &Model| {
                model.forward(&mut [Input::whole(&ids).with_logits(Logits::All)]).unwrap()
            };
            assert_close(&all(&host).concat(), &all(&tensors).concat(), name);
            let weights = |model: &Model| {
                let layers = model.attention(&ids).unwrap();
                layers.into_iter().flatten().flatten().flatten().collect::<Vec<_>>()
            };
            assert_close(&weights(&host), &weights(&tensors), name);
            match (host.trace(&ids).unwrap(), tensors.trace(&ids).unwrap()) {
                (Some(host), Some(tensors)) => compare(host, tensors, name),
                (host, tensors) => assert!(host.is_none() && tensors.is_none(), "{name}"),
            }
        }
    }

    fn compare(mut host: Trace, mut tensors: Trace, name: &str) {
        assert_close(&host.embedding, &tensors.embedding, name);
        assert_close(&host.norm, &tensors.norm, name);
        assert_close(&host.logits, &tensors.logits, name);
        assert_eq!(host.layers.len(), tensors.layers.len());
        for (host, tensors) in host.layers.iter_mut().zip(&mut tensors.layers) {
            assert_close(&host.weights.concat(), &tensors.weights.concat(), name);
            // With latents, the kernels attend in another form: queries that took up the matrix of the keys.
            let is_absorbed = ["deepseek", "glm4"].iter().any(|family| name.starts_with(family));
            for stop in STOPS.into_iter().filter(|stop| !(is_absorbed && HEADS.contains(stop))) {
                assert_close(host.at(stop), tensors.at(stop), &format!("{name}, {stop:?}"));
            }
        }
    }
}
