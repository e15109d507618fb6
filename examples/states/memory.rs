//! The memory of a text, in models that differ in what they keep of it.

use std::fmt::Write;

use slowburn::checkpoint::Weights;
use slowburn::device::{self, DeviceChoice};
use slowburn::model::config::{
    Activation, Convolution, DeltaRule, Family, LatentConfig, LayerConfig, LlamaConfig, Mixer,
    RopeConfig,
};
use slowburn::model::{Input, Logits, Model, ModelConfig};
use slowburn_examples::cli::Result;

/// The lengths of text that are measured.
const LENGTHS: [usize; 3] = [16, 256, 4096];
/// The tokens of a pass.
const CHUNK: usize = 256;
const LAYERS: usize = 4;
const LATENT: LatentConfig = LatentConfig {
    query_rank: None,
    rank: 32,
    value_dim: 16,
    interleaved: false,
};
/// The part of a key that is rotated, and the same in all heads.
const ROTATED: usize = 8;

const CONVOLUTION: Mixer = Mixer::Convolution(Convolution { width: 3, bias: false });
const DELTA_RULE: Mixer = Mixer::DeltaRule(DeltaRule {
    key_heads: 4,
    value_heads: 4,
    key_dim: 16,
    value_dim: 16,
    width: 4,
});

/// Three layers of this kind, and one with attention, as in Qwen 3.5.
fn three_of_four(mixer: Mixer) -> Vec<LayerConfig> {
    [mixer, mixer, mixer, Mixer::Attention].map(layer).to_vec()
}

fn layer(mixer: Mixer) -> LayerConfig {
    LayerConfig { mixer, ..LayerConfig::plain(RopeConfig::new(10_000.0)) }
}

/// A model of four layers with random weights, and heads of 16 numbers.
fn model(layers: Vec<LayerConfig>) -> Result<Model> {
    let rope = RopeConfig::new(10_000.0);
    load(LlamaConfig { layers, ..LlamaConfig::plain(rope) }, [4, 16])
}

/// The same with latent attention, whose keys have a part that is rotated besides.
fn latent_model() -> Result<Model> {
    let rope = RopeConfig { rotated: Some(ROTATED), ..RopeConfig::new(10_000.0) };
    let plain = LlamaConfig::plain(rope);
    load(LlamaConfig { latent: Some(LATENT), ..plain }, [8, 16 + ROTATED])
}

fn load(llama: LlamaConfig, [n_kv_heads, head_dim]: [usize; 2]) -> Result<Model> {
    let config = ModelConfig {
        family: Family::Llama(llama),
        vocab_size: 512,
        d_model: 128,
        n_layers: LAYERS,
        n_heads: 8,
        n_kv_heads,
        head_dim,
        d_ff: 128,
        context_length: 1 << 16,
        norm_eps: 1e-5,
        activation: Activation::Silu,
        tied_head: true,
        bos_token_id: Some(0),
        eos_token_ids: Vec::new(),
    };
    let device = device::open(DeviceChoice::Cpu)?.device;
    device.seed(1);
    Ok(Model::load(config, &Weights::random(&device))?)
}

/// The memory that a text takes after so many tokens, in bytes.
fn held(model: &Model) -> Result<[usize; LENGTHS.len()]> {
    let mut held = [0; LENGTHS.len()];
    for (held, length) in held.iter_mut().zip(LENGTHS) {
        let mut cache = model.new_cache(length)?;
        for first in (0..length).step_by(CHUNK) {
            let ids: Vec<u32> =
                (first..length.min(first + CHUNK)).map(|i| i as u32 % 500).collect();
            model.forward(&mut [Input::after(&mut cache, &ids).with_logits(Logits::None)])?;
        }
        *held = cache.bytes();
    }
    Ok(held)
}

pub(super) fn text() -> Result<String> {
    let rows = [
        ("keys and values", held(&model(vec![layer(Mixer::Attention)])?)?),
        ("3 of 4 convolutions", held(&model(three_of_four(CONVOLUTION))?)?),
        ("3 of 4 states", held(&model(three_of_four(DELTA_RULE))?)?),
        ("latents", held(&latent_model()?)?),
    ];
    let mut out = String::from("The memory of a text, in kB\n\n");
    let heads: String = LENGTHS.iter().map(|length| format!("{length:>13}")).collect();
    let _ = writeln!(out, "{:<22}{heads}{:>16}", "tokens", "for each more");
    for (name, bytes) in rows {
        let kilobytes: String =
            bytes.iter().map(|bytes| format!("{:>13.1}", *bytes as f64 / 1e3)).collect();
        let [_, short, long] = bytes;
        let more = (long - short) as f64 / (LENGTHS[2] - LENGTHS[1]) as f64 / 1e3;
        let _ = writeln!(out, "{name:<22}{kilobytes}{more:>16.3}");
    }
    Ok(out)
}
