//! The folder of a model, read: sizes, weights and vocabulary.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::model::{FeedForward, Layer, Model, Swiglu};
use crate::parts::Rows;
use crate::vocabulary::Vocabulary;

/// What `config.json` says, as far as the engine needs it.
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    #[serde(rename = "num_hidden_layers")]
    pub n_layers: usize,
    #[serde(rename = "num_attention_heads")]
    pub n_heads: usize,
    #[serde(rename = "num_key_value_heads")]
    pub n_kv_heads: usize,
    pub head_dim: usize,
    #[serde(rename = "rms_norm_eps")]
    pub eps: f32,
    #[serde(rename = "max_position_embeddings")]
    pub context: usize,
    #[serde(rename = "bos_token_id")]
    pub bos: u32,
    #[serde(rename = "eos_token_id")]
    pub eos: u32,
    #[serde(rename = "rope_parameters")]
    pub rope: RopeParameters,
}

#[derive(Debug, Clone, Deserialize)]
pub struct RopeParameters {
    #[serde(rename = "rope_theta")]
    pub theta: f64,
}

/// A matrix or a norm in the file.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// Reads a model like ember: a Llama with a tied head, in f16.
///
/// # Errors
/// A file that is missing, or not of this kind.
pub fn read(folder: &Path) -> Result<(Model, Vocabulary), Box<dyn Error>> {
    let file = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let config: Config = serde_json::from_slice(&file("config.json")?)?;
    let vocabulary = Vocabulary::read(&file("tokenizer.json")?)?;
    let weights = file("model.safetensors")?;
    let weights = Weights::read(&weights)?;

    let layer = |i: usize| -> Result<Layer, Box<dyn Error>> {
        let matrix = |name: &str| weights.matrix(&format!("model.layers.{i}.{name}.weight"));
        let norm = |name: &str| Ok::<_, String>(matrix(name)?.concat());
        Ok(Layer {
            attention_norm: norm("input_layernorm")?,
            queries: matrix("self_attn.q_proj")?,
            keys: matrix("self_attn.k_proj")?,
            values: matrix("self_attn.v_proj")?,
            output: matrix("self_attn.o_proj")?,
            window: None,
            feed_forward_norm: norm("post_attention_layernorm")?,
            feed_forward: FeedForward::One(Swiglu {
                gate: matrix("mlp.gate_proj")?,
                up: matrix("mlp.up_proj")?,
                down: matrix("mlp.down_proj")?,
            }),
        })
    };
    let model = Model {
        embedding: weights.matrix("model.embed_tokens.weight")?,
        layers: (0..config.n_layers).map(layer).collect::<Result<_, _>>()?,
        norm: weights.matrix("model.norm.weight")?.concat(),
        config,
    };
    Ok((model, vocabulary))
}

/// A file of safetensors: the length of a table, the table, and the numbers.
struct Weights<'a> {
    table: HashMap<String, Entry>,
    numbers: &'a [u8],
}

impl<'a> Weights<'a> {
    fn read(file: &'a [u8]) -> Result<Self, Box<dyn Error>> {
        let (length, rest) = file.split_first_chunk::<8>().ok_or("the weights are cut off")?;
        let length = usize::try_from(u64::from_le_bytes(*length))?;
        let (table, numbers) = rest.split_at_checked(length).ok_or("the weights are cut off")?;
        let mut table: HashMap<String, serde_json::Value> = serde_json::from_slice(table)?;
        table.remove("__metadata__");
        let entry = |(name, value)| Ok((name, serde_json::from_value(value)?));
        let table = table.into_iter().map(entry).collect::<Result<_, serde_json::Error>>()?;
        Ok(Self { table, numbers })
    }

    /// Its rows. A norm has rows of one number.
    fn matrix(&self, name: &str) -> Result<Rows, String> {
        let entry = self.table.get(name).ok_or(format!("there are no weights {name}"))?;
        let [start, end] = entry.data_offsets;
        let bytes = self.numbers.get(start..end).ok_or(format!("{name} is cut off"))?;
        if entry.dtype != "F16" {
            return Err(format!("{name} is {}, but must be F16", entry.dtype));
        }
        let (numbers, []) = bytes.as_chunks::<2>() else {
            return Err(format!("{name} ends in the middle of a number"));
        };
        let numbers: Vec<f32> = numbers.iter().map(|n| widened(u16::from_le_bytes(*n))).collect();
        let width = entry.shape.get(1).copied().unwrap_or(1).max(1);
        Ok(numbers.chunks(width).map(<[f32]>::to_vec).collect())
    }
}

/// An f16 as an f32, which holds all of them exactly.
fn widened(f16: u16) -> f32 {
    let sign = u32::from(f16 >> 15) << 31;
    let exponent = u32::from(f16 >> 10 & 0x1F);
    let fraction = u32::from(f16 & 0x3FF);
    match exponent {
        // Zero and the numbers that are too small for an exponent: steps of 2^-24.
        0 => f32::from_bits((fraction as f32 / (1 << 24) as f32).to_bits() | sign),
        0x1F => f32::from_bits(sign | 0xFF << 23 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}
