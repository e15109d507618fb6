//! What is in a file.

use std::collections::BTreeSet;

use burn::tensor::DType;
use safetensors::SafeTensors;
use slowburn::checkpoint::Weights;
use slowburn::checkpoint::gguf::{TensorType, Value};
use slowburn::device::OpenDevice;
use slowburn::kernels::Quantized;
use slowburn::model::config::{Family, RopeScaling};
use slowburn::model::{Model, ModelConfig};
use slowburn::storage::{MatrixFormat, Storage};

use super::*;
use crate::common::texts::{alone, greedy};
use crate::common::{argmax, assert_close};

fn load_folder(name: &str) -> Pretrained {
    load(&fixture(&format!("gguf/{name}"))).unwrap()
}

#[test]
fn a_file_and_a_folder_of_the_same_weights_give_the_same_bits() {
    let prompt: Vec<u32> = (0..40).map(|i| (i * 37 + 11) % 320).collect();
    for name in PAIRS {
        let (file, folder) = (load_gguf(name), load_folder(name));
        let (a, b) = (logits(&file, &prompt), logits(&folder, &prompt));
        if name == "llama3" {
            // The file holds factors that were rounded to f32.
            for (a, b) in a.iter().zip(&b) {
                assert_close(a, b, 1e-4, name);
            }
        } else {
            assert_eq!(a, b, "{name}");
        }
    }
}

#[test]
fn the_metadata_says_what_config_json_says() {
    for name in PAIRS {
        let mut found = load_gguf(name).model.config().clone();
        let mut expected = load_folder(name).model.config().clone();
        if name == "llama3" {
            forget_scaling(&mut found);
            forget_scaling(&mut expected);
        }
        assert_eq!(found, expected, "{name}");
    }
}

/// The file has the outcome of the scaling, the folder its parameters.
fn forget_scaling(config: &mut ModelConfig) {
    let Family::Llama(llama) = &mut config.family else {
        panic!("not of the Llama family");
    };
    let rope = llama.layers[0].rope.as_mut().unwrap();
    assert!(rope.scaling != RopeScaling::None);
    rope.scaling = RopeScaling::None;
}

/// In F32, both compute in f32, but llama.cpp looks up GELU in a table of f16. Where weights are
/// stored in fewer bits, llama.cpp rounds the activations too, to f16 or to eight bits, and this
/// crate does not.
#[test]
fn logits_and_greedy_tokens_are_those_of_llama_cpp() {
    let expected = read_json(&fixture("gguf/llama_cpp.json"));
    for name in PAIRS.into_iter().chain(["llama-q8_0", "mixed"]) {
        let is_f32 = PAIRS.contains(&name);
        let pretrained = load_gguf(name);
        for run in expected[name].as_array().unwrap() {
            let prompt = ids(&run["prompt"]);
            let reference: Vec<f32> = serde_json::from_value(run["logits"].clone()).unwrap();
            let found = logits(&pretrained, &prompt).pop().unwrap();
            let tolerance = match name {
                "gpt2" => 1e-2,
                _ if is_f32 => 1e-3,
                "llama-q8_0" => 0.25,
                _ => 1.0, // of logits up to 30
            };
            let what = format!("{name}, prompt of {}", prompt.len());
            assert_close(&found, &reference, tolerance, &what);
            if !is_f32 {
                assert_eq!(argmax(&found), argmax(&reference), "{what}");
                continue;
            }
            let reference = ids(&run["greedy"]);
            let found = alone(&pretrained.model, &prompt, &greedy(reference.len()));
            assert_eq!(found.ids, reference, "{what}");
        }
    }
}

/// Weights in fewer bits are close to those that they were made from.
#[test]
fn quantized_weights_are_close_to_the_original() {
    let prompt = [5, 77, 130, 9, 250];
    let (whole, quantized) = (load_gguf("llama"), load_gguf("llama-q8_0"));
    for (a, b) in logits(&whole, &prompt).iter().zip(&logits(&quantized, &prompt)) {
        assert_close(a, b, 0.5, "Q8_0");
    }
}

/// Quantized weights take about as much memory as in the file. On one, a scale of f16 for 32 weights.
#[test]
fn quantized_weights_stay_small() {
    let (whole, quantized) = (load_gguf("llama").model, load_gguf("llama-q8_0").model);
    let ratio = whole.bytes() as f64 / quantized.bytes() as f64;
    // Vectors stay in f32, and a row of 64 numbers is two groups.
    assert!((3.3..3.77).contains(&ratio), "{ratio}");
}

/// Quantizing the layers leaves an embedding in blocks as it is, here in Q4_K. Any other format can
/// be asked for.
#[test]
fn an_embedding_in_blocks_stays_unless_a_format_is_given() {
    let formats = |embedding| {
        let storage = Storage {
            layers: Some(Quantized::Int8),
            embedding,
            ..Precision::F32.into()
        };
        let model = Pretrained::load(&file("mixed"), &device(), storage).unwrap().model;
        let mut formats = model.weight_formats().to_vec();
        formats.sort_unstable();
        formats
    };
    assert_eq!(formats(None), ["int4", "int8"]);
    assert_eq!(formats(Some(MatrixFormat::Quantized(Quantized::Int8))), ["int8"]);
    assert_eq!(formats(Some(MatrixFormat::Dense(Precision::F32))), ["f32", "int8"]);
}

/// Every type of a file can be stored in every type of a model.
#[test]
fn a_file_of_many_types_is_loaded_in_each_precision() {
    let whole = logits(&load_gguf("mixed"), &[7, 8, 9]);
    for (precision, tolerance) in [(Precision::F16, 0.05), (Precision::Bf16, 0.5)] {
        let pretrained = Pretrained::load(&file("mixed"), &device(), precision).unwrap();
        for (a, b) in logits(&pretrained, &[7, 8, 9]).iter().zip(&whole) {
            assert_close(a, b, tolerance, &format!("{precision:?}"));
        }
    }
}

/// For programs that use the file and the network, without a tokenizer.
#[test]
fn a_network_is_loaded_from_an_open_file() {
    let file = GgufFile::open(file("llama")).unwrap();
    let config = ModelConfig::from_gguf(&file).unwrap();
    let OpenDevice { device, .. } = device();
    let weights = Weights::from_gguf(&file, &config, &device, DType::F32).unwrap();
    let model = Model::load(config, &weights).unwrap();
    let inputs = || [Input::whole(&[5, 77, 130]).with_logits(Logits::All)];
    let expected = load_gguf("llama").model.forward(&mut inputs()).unwrap();
    assert_eq!(model.forward(&mut inputs()).unwrap(), expected);
}

#[test]
fn an_open_file_shows_what_is_in_it() {
    let file = GgufFile::open(super::file("llama")).unwrap();
    assert_eq!(file.value("general.architecture"), Some(&Value::Text("llama".to_owned())));
    assert_eq!(file.value("nothing"), None);
    assert!(file.metadata().any(|(key, _)| key == "tokenizer.ggml.tokens"));

    let bytes = std::fs::read(fixture("gguf/llama/model.safetensors")).unwrap();
    let checkpoint = SafeTensors::deserialize(&bytes).unwrap();
    for (in_file, name) in [
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("blk.1.ffn_down.weight", "model.layers.1.mlp.down_proj.weight"),
        ("output_norm.weight", "model.norm.weight"),
    ] {
        let expected = checkpoint.tensor(name).unwrap();
        assert_eq!(file.tensor(in_file).unwrap().shape(), expected.shape(), "{name}");
        let data = file.data(in_file).unwrap();
        assert_eq!(data.shape().to_vec(), expected.shape(), "{name}");
        assert_eq!(&**data.bytes(), expected.data(), "{name}");
    }
    let error = file.data("lm_head.weight").unwrap_err();
    assert!(
        matches!(error, Error::Load(LoadError::TensorMissing { tensor, .. }) if tensor == "lm_head.weight")
    );

    // Each type has its name, and quantized numbers become F32.
    let file = std::fs::read(super::file("mixed")).unwrap();
    let file = GgufFile::from_bytes(&file, "mixed").unwrap();
    let kinds: BTreeSet<String> = file.tensors().map(|(_, info)| info.kind().to_string()).collect();
    let all = "BF16 F16 F32 Q4_0 Q4_1 Q4_K Q5_0 Q5_1 Q5_K Q6_K Q8_0";
    assert_eq!(Vec::from_iter(kinds).join(" "), all);
    for (name, info) in file.tensors() {
        let dtype = match info.kind() {
            TensorType::F16 => DType::F16,
            TensorType::Bf16 => DType::BF16,
            _ => DType::F32,
        };
        assert_eq!(file.data(name).unwrap().dtype(), dtype, "{name}");
    }
}
