//! The logits of transformers.

use burn::tensor::DType;
use slowburn::device::Precision;
#[cfg(feature = "flex")]
use slowburn::device::{self, DeviceChoice};
use slowburn::kernels::KvFormat;
use slowburn::model::{Input, Logits};
use slowburn::pretrained::Pretrained;

use crate::common::{argmax, assert_relatively_close, expected, fixture, load};
use crate::{cube, cubes};

/// How far a logit may be from the reference, as a share of the largest logit of its position. The
/// operations of a GPU are its own.
const TOLERANCE: f32 = 1e-4;

/// One of each family, with windows, soft caps and experts.
const MODELS: [&str; 17] = [
    "llama-gqa",
    "qwen2",
    "qwen3",
    "gpt2",
    "mistral-window",
    "gemma3-softcaps",
    "smollm3",
    "phi3-longrope",
    "qwen3-moe",
    "mixtral",
    "olmo3",
    "granite",
    "ministral3",
    "gpt-oss",
    "deepseek-v2",
    "deepseek-v3",
    "glm4-moe-lite",
];

/// Whole and in chunks, and for the tokens that follow.
#[test]
fn logits_and_greedy_tokens_are_those_of_transformers() {
    if let Some(device) = cube() {
        for name in MODELS {
            let model = load(name, &device).model;
            let reference = expected(name);
            for (i, prompt) in reference.prompts.iter().enumerate() {
                let what = format!("{name} on {device}, prompt of {}", prompt.len());
                let whole = Input::whole(prompt).with_logits(Logits::All);
                for (row, expected) in
                    model.forward(&mut [whole]).unwrap().iter().zip(&reference.logits[i])
                {
                    assert_relatively_close(row, expected, TOLERANCE, &what);
                }
                let mut cache = model.new_cache(prompt.len() + 6).unwrap();
                let mut last = Vec::new();
                for chunk in prompt.chunks(9) {
                    let first = cache.length();
                    let input = Input::after(&mut cache, chunk).with_logits(Logits::All);
                    let rows = model.forward(&mut [input]).unwrap();
                    for (row, expected) in rows.iter().zip(&reference.logits[i][first..]) {
                        assert_relatively_close(row, expected, TOLERANCE, &what);
                    }
                    last = rows.last().unwrap().clone();
                }
                for &token in &reference.greedy[i][..6] {
                    assert_eq!(argmax(&last), token, "{what}, {} tokens", cache.length());
                    last =
                        model.forward(&mut [Input::after(&mut cache, &[token])]).unwrap().remove(0);
                }
            }
        }
    }
}

/// One prompt, which is short, and the tokens that follow, on every device.
#[test]
fn every_device_agrees() {
    for device in cubes() {
        for name in ["llama-gqa", "gemma3", "gpt2"] {
            let model = load(name, &device).model;
            let reference = expected(name);
            let prompt = &reference.prompts[1];
            let mut cache = model.new_cache(prompt.len() + 3).unwrap();
            let mut row = model.forward(&mut [Input::after(&mut cache, prompt)]).unwrap().remove(0);
            let what = format!("{name} on {device}");
            let expected = &reference.logits[1][prompt.len() - 1];
            assert_relatively_close(&row, expected, TOLERANCE, &what);
            for &token in &reference.greedy[1][..3] {
                assert_eq!(argmax(&row), token, "{what}");
                row = model.forward(&mut [Input::after(&mut cache, &[token])]).unwrap().remove(0);
            }
        }
    }
}

/// What a text's way through the network shows, beside the CPU.
#[cfg(feature = "flex")]
#[test]
fn attention_and_traces_are_those_of_the_cpu() {
    let ids: Vec<u32> = (0..40).map(|i| (i * 37 + 11) % 250).collect();
    let cpu = device::open(DeviceChoice::Cpu).unwrap();
    if let Some(device) = cube() {
        for name in ["llama-gqa", "gemma3"] {
            let [found, expected] = [&device, &cpu].map(|device| load(name, device).model);
            let flat = |weights: Vec<Vec<Vec<Vec<f32>>>>| {
                weights.into_iter().flatten().flatten().flatten().collect::<Vec<_>>()
            };
            let [weights, reference] =
                [&found, &expected].map(|model| flat(model.attention(&ids).unwrap()));
            assert_relatively_close(&weights, &reference, TOLERANCE, name);
            let [trace, reference] =
                [&found, &expected].map(|model| model.trace(&ids).unwrap().unwrap());
            assert_relatively_close(&trace.logits, &reference.logits, TOLERANCE, name);
            for (layer, reference) in trace.layers.iter().zip(&reference.layers) {
                assert_relatively_close(&layer.mixed, &reference.mixed, TOLERANCE, name);
                assert_relatively_close(&layer.output, &reference.output, TOLERANCE, name);
            }
        }
    }
}

/// With weights in f16, and with keys and values in another type than the weights.
#[test]
fn half_precision_is_close() {
    if let Some(device) = cube() {
        if !device.device.supports_dtype(DType::F16) {
            println!("not tested in f16: {device} has none");
            return;
        }
        for name in ["llama-gqa", "gpt2"] {
            let reference = expected(name);
            let (prompt, expected) = (&reference.prompts[2], &reference.logits[2]);
            let load = |precision| {
                let folder = fixture(&format!("models/{name}"));
                Pretrained::load(&folder, &device, precision).unwrap().model
            };
            let f16 = load(Precision::F16);
            let f16_keys = load(Precision::F32).with_kv_format(KvFormat::F16).unwrap();
            let f32_keys = load(Precision::F16).with_kv_format(KvFormat::F32).unwrap();
            assert_eq!(f16_keys.kv_pool().format(), KvFormat::F16);
            assert_eq!(
                f16_keys.kv_pool().block_bytes(),
                load(Precision::F32).kv_pool().block_bytes() / 2
            );
            for (model, tolerance) in [(f16, 2e-2), (f16_keys, 5e-3), (f32_keys, 2e-2)] {
                let whole = Input::whole(prompt).with_logits(Logits::All);
                for (row, expected) in model.forward(&mut [whole]).unwrap().iter().zip(expected) {
                    assert_relatively_close(row, expected, tolerance, &format!("{name}, {device}"));
                }
            }
        }
    }
}

/// Keys and values in int8, beside the CPU's.
#[test]
fn keys_and_values_in_int8_are_close() {
    if let Some(device) = cube() {
        for name in ["llama-gqa", "gemma3", "gpt2"] {
            let model = load(name, &device).model;
            let f32_bytes = model.kv_pool().block_bytes();
            let model = model.with_kv_format(KvFormat::Int8).unwrap();
            assert!(model.kv_pool().block_bytes() < f32_bytes / 2, "{name}");
            let reference = expected(name);
            let whole = Input::whole(&reference.prompts[2]).with_logits(Logits::All);
            for (row, expected) in
                model.forward(&mut [whole]).unwrap().iter().zip(&reference.logits[2])
            {
                assert_relatively_close(row, expected, 4e-2, &format!("{name}, {device}"));
            }
        }
    }
}
