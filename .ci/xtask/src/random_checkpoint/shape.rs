//! The shapes of some published models: their `config.json` and the names of their tensors.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

/// A published model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    #[value(name = "smollm2-135m")]
    SmolLm2_135m,
    #[value(name = "stories15m")]
    Stories15m,
    #[value(name = "tinyllama-1.1b")]
    TinyLlama1_1b,
}

/// A tensor to be generated.
pub struct Tensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub fill: Fill,
}

/// The initial values of a tensor, as before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Random,
    Ones,
}

/// The dimensions of a Llama.
#[derive(Deserialize)]
struct Llama {
    vocab: usize,
    d_model: usize,
    n_layers: usize,
    n_heads: usize,
    n_kv_heads: usize,
    d_ff: usize,
    context: usize,
    rope_theta: f64,
    tied_head: bool,
    begin: u32,
    end: u32,
    #[serde(borrow)]
    special_tokens: Vec<(&'static str, u32)>,
}

/// By the names for the flag `--shape`.
static SHAPES: LazyLock<BTreeMap<String, Llama>> =
    LazyLock::new(|| toml::from_str(include_str!("shapes.toml")).expect("dimensions"));

impl Tensor {
    fn new(name: impl Into<String>, shape: &[usize], fill: Fill) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), fill }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Shape {
    /// The name for the flag `--shape`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmolLm2_135m => "smollm2-135m",
            Self::Stories15m => "stories15m",
            Self::TinyLlama1_1b => "tinyllama-1.1b",
        }
    }

    fn llama(self) -> &'static Llama {
        &SHAPES[self.name()]
    }

    pub fn vocab_size(self) -> usize {
        self.llama().vocab
    }

    /// The special tokens and their ids.
    pub fn special_tokens(self) -> &'static [(&'static str, u32)] {
        &self.llama().special_tokens
    }

    pub fn config_json(self, dtype: &str) -> Value {
        self.llama().config_json(dtype)
    }

    /// All tensors in file order.
    pub fn tensors(self) -> Vec<Tensor> {
        self.llama().tensors()
    }
}

impl Llama {
    fn config_json(&self, dtype: &str) -> Value {
        json!({
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "torch_dtype": dtype,
            "vocab_size": self.vocab,
            "hidden_size": self.d_model,
            "num_hidden_layers": self.n_layers,
            "num_attention_heads": self.n_heads,
            "num_key_value_heads": self.n_kv_heads,
            "intermediate_size": self.d_ff,
            "hidden_act": "silu",
            "max_position_embeddings": self.context,
            "rms_norm_eps": 1e-5,
            "rope_theta": self.rope_theta,
            "rope_scaling": null,
            "attention_bias": false,
            "tie_word_embeddings": self.tied_head,
            "bos_token_id": self.begin,
            "eos_token_id": self.end,
        })
    }

    fn tensors(&self) -> Vec<Tensor> {
        let (d, d_ff) = (self.d_model, self.d_ff);
        let d_kv = d / self.n_heads * self.n_kv_heads;
        let embedding = "model.embed_tokens.weight";
        let mut tensors = vec![Tensor::new(embedding, &[self.vocab, d], Fill::Random)];
        for layer in 0..self.n_layers {
            for (part, shape, fill) in [
                ("input_layernorm", &[d][..], Fill::Ones),
                ("mlp.down_proj", &[d, d_ff], Fill::Random),
                ("mlp.gate_proj", &[d_ff, d], Fill::Random),
                ("mlp.up_proj", &[d_ff, d], Fill::Random),
                ("post_attention_layernorm", &[d], Fill::Ones),
                ("self_attn.k_proj", &[d_kv, d], Fill::Random),
                ("self_attn.o_proj", &[d, d], Fill::Random),
                ("self_attn.q_proj", &[d, d], Fill::Random),
                ("self_attn.v_proj", &[d_kv, d], Fill::Random),
            ] {
                tensors.push(Tensor::new(
                    format!("model.layers.{layer}.{part}.weight"),
                    shape,
                    fill,
                ));
            }
        }
        tensors.push(Tensor::new("model.norm.weight", &[d], Fill::Ones));
        if !self.tied_head {
            tensors.push(Tensor::new("lm_head.weight", &[self.vocab, d], Fill::Random));
        }
        tensors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_flag() {
        for shape in Shape::value_variants() {
            assert_eq!(shape.to_possible_value().unwrap().get_name(), shape.name());
        }
    }

    #[test]
    fn as_many_parameters_as_the_names_say() {
        for (shape, millions) in [
            (Shape::SmolLm2_135m, 135),
            (Shape::Stories15m, 15),
            (Shape::TinyLlama1_1b, 1100),
        ] {
            let parameters: usize = shape.tensors().iter().map(Tensor::len).sum();
            assert_eq!((parameters + 500_000) / 1_000_000, millions, "{shape:?}");
        }
    }
}
