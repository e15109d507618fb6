//! The weights of the pages: ember as a GGUF file in Q8_0, with its tokenizer. Spark, the model that talks, is bundled
//! as such a file.
//!
//! The integers and scales are those of `--quantize int8`, so the file is
//! the same model as that one, value by value.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use half::f16;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use slowburn::kernels::{GROUP, Quantized, Rounding, quantize};

/// `general.alignment` where a file does not say it.
const ALIGNMENT: usize = 32;

/// The numbers of types in a file.
const F32: u32 = 0;
const Q8_0: u32 = 8;

/// The names of tensors in a checkpoint and in a file, without `.weight`.
const WHOLE: [(&str, &str); 2] = [
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
];
const LAYER: [(&str, &str); 9] = [
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
];

/// The metadata in the making.
#[derive(Default)]
struct Metadata {
    bytes: Vec<u8>,
    count: u64,
}

impl Metadata {
    fn key(&mut self, key: &str, kind: u32) {
        push_text(&mut self.bytes, key);
        self.bytes.extend(kind.to_le_bytes());
        self.count += 1;
    }

    fn u32(&mut self, key: &str, value: u32) {
        self.key(key, 4);
        self.bytes.extend(value.to_le_bytes());
    }

    fn f32(&mut self, key: &str, value: f32) {
        self.key(key, 6);
        self.bytes.extend(value.to_le_bytes());
    }

    fn flag(&mut self, key: &str, value: bool) {
        self.key(key, 7);
        self.bytes.push(value.into());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key, 8);
        push_text(&mut self.bytes, value);
    }

    fn array(&mut self, key: &str, kind: u32, length: usize) {
        self.key(key, 9);
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((length as u64).to_le_bytes());
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        self.array(key, 8, values.len());
        values.iter().for_each(|value| push_text(&mut self.bytes, value));
    }

    fn integers(&mut self, key: &str, values: &[i32]) {
        self.array(key, 5, values.len());
        values.iter().for_each(|value| self.bytes.extend(value.to_le_bytes()));
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// The file for the model in `folder`, with the chat template that it has.
pub fn gguf(folder: &Path, model: &str) -> Result<Vec<u8>> {
    let read = |name: &str| fs::read(folder.join(name)).with_context(|| name.to_owned());
    let config: Value = serde_json::from_slice(&read("config.json")?)?;
    let tokenizer: Value = serde_json::from_slice(&read("tokenizer.json")?)?;
    let checkpoint = read("model.safetensors")?;
    let checkpoint = SafeTensors::deserialize(&checkpoint)?;

    let size = |key: &str| -> Result<u32> {
        let size = config[key].as_u64().with_context(|| format!("config.json has no {key}"))?;
        Ok(u32::try_from(size)?)
    };
    let mut metadata = Metadata::default();
    metadata.text("general.architecture", "llama");
    metadata.text("general.name", model);
    for (key, value) in [
        ("block_count", "num_hidden_layers"),
        ("context_length", "max_position_embeddings"),
        ("embedding_length", "hidden_size"),
        ("feed_forward_length", "intermediate_size"),
        ("attention.head_count", "num_attention_heads"),
        ("attention.head_count_kv", "num_key_value_heads"),
        ("attention.key_length", "head_dim"),
        ("attention.value_length", "head_dim"),
        ("rope.dimension_count", "head_dim"),
    ] {
        metadata.u32(&format!("llama.{key}"), size(value)?);
    }
    let number = |value: &Value| value.as_f64().context("config.json lacks a number");
    let eps = number(&config["rms_norm_eps"])?;
    metadata.f32("llama.attention.layer_norm_rms_epsilon", eps as f32);
    let theta = number(&config["rope_parameters"]["rope_theta"])?;
    metadata.f32("llama.rope.freq_base", theta as f32);
    push_tokenizer(&mut metadata, &tokenizer)?;
    if let Some(template) = chat_template(folder)? {
        metadata.text("tokenizer.chat_template", &template);
    }
    metadata.u32("tokenizer.ggml.bos_token_id", size("bos_token_id")?);
    metadata.u32("tokenizer.ggml.eos_token_id", size("eos_token_id")?);

    let head_dim = size("head_dim")? as usize;
    let (mut infos, mut data, mut count) = (Vec::new(), Vec::<u8>::new(), 0_u64);
    for (name, in_file) in names(size("num_hidden_layers")?) {
        let tensor = checkpoint.tensor(&name)?;
        ensure!(tensor.dtype() == Dtype::F16, "{name} is not stored in f16");
        let (halves, _) = tensor.data().as_chunks::<2>();
        let numbers: Vec<f32> =
            halves.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect();
        let is_matrix = tensor.shape().len() == 2;
        data.resize(data.len().next_multiple_of(ALIGNMENT), 0);
        push_text(&mut infos, &in_file);
        infos.extend((tensor.shape().len() as u32).to_le_bytes());
        // The dimension that varies fastest comes first.
        for length in tensor.shape().iter().rev() {
            infos.extend((*length as u64).to_le_bytes());
        }
        infos.extend((if is_matrix { Q8_0 } else { F32 }).to_le_bytes());
        infos.extend((data.len() as u64).to_le_bytes());
        count += 1;
        if is_matrix {
            let is_rotated = name.contains("q_proj") || name.contains("k_proj");
            let head_dim = is_rotated.then_some(head_dim);
            push_blocks(&mut data, &numbers, tensor.shape()[1], head_dim)?;
        } else {
            numbers.iter().for_each(|number| data.extend(number.to_le_bytes()));
        }
    }

    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(metadata.count.to_le_bytes());
    file.extend(metadata.bytes);
    file.extend(infos);
    file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
    file.extend(data);
    Ok(file)
}

fn chat_template(folder: &Path) -> Result<Option<String>> {
    let path = folder.join("tokenizer_config.json");
    if !path.exists() {
        return Ok(None);
    }
    let config: Value = serde_json::from_slice(&fs::read(path)?)?;
    Ok(config["chat_template"].as_str().map(str::to_owned))
}

fn names(layers: u32) -> Vec<(String, String)> {
    let whole = WHOLE.iter().map(|(name, in_file)| (String::new(), String::new(), name, in_file));
    let layers = (0..layers).flat_map(|layer| {
        LAYER.iter().map(move |(name, in_file)| {
            (format!("model.layers.{layer}."), format!("blk.{layer}."), name, in_file)
        })
    });
    let with_weight = |(before, before_in_file, name, in_file): (String, String, &&str, &&str)| {
        (format!("{before}{name}.weight"), format!("{before_in_file}{in_file}.weight"))
    };
    whole.chain(layers).map(with_weight).collect()
}

/// Appends a matrix as blocks of Q8_0: a scale in f16, and 32 integers. Rows that RoPE turns are
/// stored in pairs: the `i`-th of a head, and the `i`-th of its second half.
fn push_blocks(
    data: &mut Vec<u8>,
    numbers: &[f32],
    columns: usize,
    head_dim: Option<usize>,
) -> Result<()> {
    ensure!(columns.is_multiple_of(GROUP), "rows of {columns} numbers are no whole groups");
    for stored in 0..numbers.len() / columns {
        let row = head_dim.map_or(stored, |head_dim| {
            let (head, in_head) = (stored / head_dim, stored % head_dim);
            head * head_dim + in_head % 2 * (head_dim / 2) + in_head / 2
        });
        let (groups, _) = numbers[row * columns..][..columns].as_chunks::<GROUP>();
        for group in groups {
            let (scale, integers) = quantize(group, Quantized::Int8, Rounding::default());
            data.extend(scale.to_le_bytes());
            data.extend(integers.map(i8::cast_unsigned));
        }
    }
    Ok(())
}

/// Appends what `tokenizer.json` says: byte-level BPE with GPT-2's words.
fn push_tokenizer(metadata: &mut Metadata, tokenizer: &Value) -> Result<()> {
    /// The types of tokens: text, and special.
    const NORMAL: i32 = 1;
    const CONTROL: i32 = 3;
    ensure!(
        tokenizer["model"]["type"] == "BPE" && tokenizer["pre_tokenizer"]["type"] == "ByteLevel",
        "tokenizer.json is of another kind"
    );
    let vocabulary = tokenizer["model"]["vocab"].as_object().context("no vocabulary")?;
    let mut tokens = vec![String::new(); vocabulary.len()];
    let mut types = vec![NORMAL; vocabulary.len()];
    for (token, id) in vocabulary {
        let id = id.as_u64().context("an id is no number")?;
        *tokens.get_mut(id as usize).context("an id is too large")? = token.clone();
    }
    for added in tokenizer["added_tokens"].as_array().context("no added tokens")? {
        let id = added["id"].as_u64().context("an id is no number")?;
        *types.get_mut(id as usize).context("an id is too large")? = CONTROL;
    }
    let merges = tokenizer["model"]["merges"].as_array().context("no merges")?;
    let merge = |merge: &Value| match (merge.as_str(), merge[0].as_str(), merge[1].as_str()) {
        (Some(pair), ..) => Some(pair.to_owned()),
        (None, Some(left), Some(right)) => Some(format!("{left} {right}")),
        _ => None,
    };
    let merges: Option<Vec<String>> = merges.iter().map(merge).collect();
    metadata.text("tokenizer.ggml.model", "gpt2");
    metadata.text("tokenizer.ggml.pre", "gpt-2");
    metadata.texts("tokenizer.ggml.tokens", &tokens);
    metadata.integers("tokenizer.ggml.token_type", &types);
    metadata.texts("tokenizer.ggml.merges", &merges.context("a merge is no pair")?);
    let adds_bos = !tokenizer["post_processor"].is_null();
    metadata.flag("tokenizer.ggml.add_bos_token", adds_bos);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowburn::device::{self, DeviceChoice, Precision};
    use slowburn::model::Input;
    use slowburn::pretrained::Pretrained;
    use slowburn::storage::Storage;

    /// The file is the bundled model in int8: the same ids for a text, and the same bits of logits.
    #[test]
    fn the_file_is_the_bundled_model_in_int8() {
        let root = crate::root();
        let bytes = gguf(&root.join("models/ember"), "ember").expect("a file");
        let device = device::open(DeviceChoice::Cpu).expect("a CPU");
        let in_page = Pretrained::from_gguf(&bytes, "the file", &device, Precision::F32).unwrap();
        let int8 = Storage { layers: Some(Quantized::Int8), ..Precision::F32.into() };
        let bundled = Pretrained::bundled(&device, int8).unwrap();
        assert_eq!(in_page.model.bytes(), bundled.model.bytes());
        for text in [
            "",
            "Once upon a time, there was a",
            "  two  spaces, don't\n\nnaïve 日本 🦊 1234",
            "<|begin|> is <|end|>",
        ] {
            let ids = bundled.prompt_ids(text).unwrap();
            assert_eq!(in_page.prompt_ids(text).unwrap(), ids, "{text:?}");
            let logits = |pretrained: &Pretrained| {
                let row = pretrained.model.forward(&mut [Input::whole(&ids)]).unwrap().remove(0);
                row.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(logits(&in_page), logits(&bundled), "{text:?}");
        }
    }
}
