//! How many weights a model has, how many of them a token reads, and what its text holds.

use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::model::ModelConfig;
use slowburn::model::config::{Family, KvHeads, LayerConfig, LlamaConfig, Mixer, Mlp};
use slowburn_flags::bytes;

use super::layers::Named;

/// The text that is counted, in tokens, unless the context is shorter.
const TEXT: usize = 32_768;
/// Of a key or a value in f16.
const BYTES: usize = 2;

/// Counts of a model. Norms and biases are left out: they are less than a thousandth.
struct Sizes {
    weights: usize,
    /// The weights that one token reads.
    read: usize,
    text: usize,
    /// The bytes of keys and values that a text holds: blocks have the positions of all layers.
    held: usize,
    /// The bytes of them that its next token reads.
    attended: usize,
}

impl Sizes {
    fn of(config: &ModelConfig, llama: &LlamaConfig) -> Self {
        let table = config.vocab_size * config.d_model;
        let (mut weights, mut read) = (table, table); // the head reads its table
        if !config.tied_head {
            weights += table;
        }
        for i in 0..config.n_layers {
            let [all, taken] = matrices(config, llama.layer(i), config.mixing_weights(i));
            weights += all;
            read += taken;
        }
        let text = TEXT.min(config.context_length);
        let bytes = |heads: KvHeads| heads.numbers() * BYTES;
        let attends = |i: &usize| llama.layer(*i).mixer == Mixer::Attention;
        let attention = (0..config.n_layers).filter(attends);
        let seen = |i: usize| llama.layer(i).window.unwrap_or(text).min(text);
        let position: usize = config.kv_layers().into_iter().map(bytes).sum();
        Self {
            weights,
            read,
            text,
            held: config.window().unwrap_or(text).min(text) * position,
            attended: attention.map(|i| seen(i) * bytes(config.kv_heads(i))).sum(),
        }
    }
}

/// The weights of a layer, of which `mixing` are those of attention or what is in its place, and those that a token
/// reads.
fn matrices(config: &ModelConfig, layer: &LayerConfig, mixing: usize) -> [usize; 2] {
    let d = config.d_model;
    let dense = 3 * d * layer.d_ff.unwrap_or(config.d_ff);
    match &layer.mlp {
        Mlp::Dense => [mixing + dense; 2],
        Mlp::Beside(experts) => {
            let of = |count| mixing + dense + d * experts.count + count * 3 * d * experts.d_ff;
            [of(experts.count), of(experts.per_token)]
        }
        Mlp::Experts(experts) => {
            let router = d * experts.count;
            let shared = 3 * d * experts.shared.unwrap_or(0);
            let of = |count| mixing + router + shared + count * 3 * d * experts.d_ff;
            [of(experts.count), of(experts.per_token)]
        }
    }
}

pub(super) fn text_and_json(models: &[Named]) -> (String, Value) {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<20}{:>9}{:>9}   {:>10}{:>11}{:>11}",
        "", "weights", "read", "after", "k and v", "read"
    );
    let mut json = Vec::new();
    for Named { name, config } in models {
        let Family::Llama(llama) = &config.family else {
            continue;
        };
        let Sizes { weights, read, text, held, attended } = Sizes::of(config, llama);
        let billions = |count: usize| format!("{:.2} G", count as f64 / 1e9);
        let _ = writeln!(
            out,
            "{name:<20}{:>9}{:>9}   {text:>10}{:>11}{:>11}",
            billions(weights),
            billions(read),
            bytes(held),
            bytes(attended),
        );
        json.push(json!({
            "name": name,
            "weights": weights,
            "weights_read": read,
            "tokens": text,
            "kv_bytes": held,
            "kv_bytes_read": attended,
        }));
    }
    (out, json.into())
}

#[cfg(test)]
mod tests {
    use super::super::layers::models;
    use super::*;

    fn published(name: &str) -> (ModelConfig, Sizes) {
        let mut models = models(&[]).unwrap().into_iter();
        let Named { config, .. } = models.find(|model| model.name == name).unwrap();
        let Family::Llama(llama) = &config.family else {
            panic!("{name}")
        };
        let sizes = Sizes::of(&config, llama);
        (config, sizes)
    }

    /// The numbers of their authors, in billions: of all weights, and of those for a token, which count
    /// the embedding matrix beside the head.
    #[test]
    fn counts_are_those_of_the_model_cards() {
        for (name, weights, active) in [
            ("Mistral 7B v0.1", 7.24, 7.24),
            ("Gemma 3 1B", 1.0, 1.0),
            ("SmolLM3 3B", 3.08, 3.08),
            ("Phi-4-mini", 3.84, 3.84),
            ("Qwen3 30B-A3B", 30.5, 3.3),
            ("Mixtral 8x7B v0.1", 46.7, 12.9),
        ] {
            let (config, sizes) = published(name);
            let table = config.vocab_size * config.d_model;
            let embedding = if config.tied_head { 0 } else { table };
            let near =
                |count: usize, expected: f64| (count as f64 / 1e9 / expected - 1.0).abs() < 0.02;
            assert!(near(sizes.weights, weights), "{name}: {}", sizes.weights);
            assert!(near(sizes.read + embedding, active), "{name}: {}", sizes.read);
        }
    }

    #[test]
    fn one_layer_without_a_window_keeps_the_whole_text() {
        let (_, mistral) = published("Mistral 7B v0.1");
        assert_eq!(mistral.held, mistral.attended);
        assert_eq!(mistral.held, 4096 * 32 * 8 * 128 * 2 * 2);
        let (_, gemma) = published("Gemma 3 1B");
        assert_eq!(gemma.held, 32_768 * 26 * 256 * 2 * 2);
        assert_eq!(gemma.attended, (22 * 512 + 4 * 32_768) * 256 * 2 * 2);
    }
}
