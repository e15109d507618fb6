//! Weights that stay packed in the memory of a GPU: whole models give what the same weights give on the
//! CPU. On Vulkan's device, which may be software, and on the runtime that compiles cubes for the CPU.
#![cfg(all(feature = "cube", feature = "flex"))]

mod common;

use common::{assert_relatively_close, cubes, device as cpu, fixture, go_on};
use slowburn::device::{OpenDevice, Precision};
use slowburn::generate::{self, Options};
use slowburn::kernels::{Activations, Quantized, Rounding};
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::storage::{MatrixFormat, Storage};
use slowburn::{DeviceError, Error};

/// How far a logit may be from that of the CPU, as a share of the largest of its position: sums are in
/// another order.
const TOLERANCE: f32 = 1e-4;

/// A family each, and one with experts.
const MODELS: [&str; 4] = ["llama-gqa", "qwen3", "gpt2", "qwen3-moe"];

const PROMPT: [u32; 9] = [5, 77, 130, 9, 250, 31, 3, 90, 17];

/// The logits after each token of a prompt that is read at once, and then of a step.
fn logits(model: &Model, prompt: &[u32]) -> Vec<Vec<f32>> {
    let (last, first) = prompt.split_last().unwrap();
    let mut cache = model.new_cache(prompt.len()).unwrap();
    let prefill = Input::after(&mut cache, first).with_logits(Logits::All);
    let mut rows = model.forward(&mut [prefill]).unwrap();
    rows.extend(model.forward(&mut [Input::after(&mut cache, &[*last])]).unwrap());
    rows
}

/// Compares a model, loaded in the same way for the CPU and for each GPU.
fn compare(what: &str, load: impl Fn(&OpenDevice) -> Pretrained) {
    let on_cpu = load(&cpu());
    let expected = logits(&on_cpu.model, &PROMPT);
    for device in cubes() {
        let on_gpu = load(&device);
        let what = format!("{what} on {}", device.name);
        assert!(!on_gpu.dequantized, "{what}");
        assert_eq!(on_gpu.model.weight_formats(), on_cpu.model.weight_formats(), "{what}");
        // The CPU has all matrices in whole panels.
        let (bytes, on_cpu) = (on_gpu.model.bytes(), on_cpu.model.bytes());
        assert!(bytes <= on_cpu, "{what}: {bytes} bytes, and {on_cpu} on the CPU");
        for (i, (found, expected)) in
            logits(&on_gpu.model, &PROMPT).iter().zip(&expected).enumerate()
        {
            assert_relatively_close(found, expected, TOLERANCE, &format!("{what}, position {i}"));
        }
    }
}

fn stored(layers: Quantized) -> Storage {
    Storage { layers: Some(layers), ..Precision::F32.into() }
}

#[test]
fn layers_are_those_of_the_cpu() {
    for name in MODELS {
        let folder = fixture(&format!("models/{name}"));
        for storage in [
            Precision::F32.into(),
            stored(Quantized::Int8),
            stored(Quantized::Int4),
        ] {
            let what = format!("{name}, {storage:?}");
            compare(&what, |device| Pretrained::load(&folder, device, storage).unwrap());
        }
    }
}

/// An embedding may be in any format, whatever the layers are in.
#[test]
fn embeddings_of_each_format_are_those_of_the_cpu() {
    let folder = fixture("models/llama-gqa");
    let int4 = stored(Quantized::Int4);
    let rounding = Rounding::LeastSquares;
    let dense = |precision| Some(MatrixFormat::Dense(precision));
    for storage in [
        Storage { embedding: dense(Precision::F32), ..int4 },
        Storage { embedding: dense(Precision::F16), ..Precision::F32.into() },
        Storage { embedding: dense(Precision::Bf16), rounding, ..int4 },
        Storage {
            embedding: Some(MatrixFormat::Quantized(Quantized::Int4)),
            ..int4
        },
    ] {
        let what = format!("{storage:?}");
        compare(&what, |device| Pretrained::load(&folder, device, storage).unwrap());
    }
}

#[test]
fn blocks_of_a_file_stay_as_they_are() {
    for name in ["mixed", "llama-q8_0"] {
        let path = fixture(&format!("gguf/{name}.gguf"));
        compare(name, |device| Pretrained::load(&path, device, Precision::F32).unwrap());
    }
}

/// A GPU has activations in f16 then, and the CPU in f32.
#[test]
fn activations_in_f16_are_close() {
    let storage = Storage { precision: Precision::F16, ..stored(Quantized::Int4) };
    let folder = fixture("models/llama-gqa");
    let load = |device: &OpenDevice| Pretrained::load(&folder, device, storage).unwrap();
    let expected = logits(&load(&cpu()).model, &PROMPT);
    for device in cubes().into_iter().filter(|device| device.check(storage).is_ok()) {
        for (found, expected) in logits(&load(&device).model, &PROMPT).iter().zip(&expected) {
            assert_relatively_close(found, expected, 0.01, device.name);
        }
    }
}

#[test]
fn a_text_is_the_same_on_every_device() {
    let storage = stored(Quantized::Int4);
    let options = Options {
        max_tokens: 12,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ..Options::default()
    };
    let text = |device: &OpenDevice| {
        let pretrained = Pretrained::bundled(device, storage).unwrap();
        let prompt = pretrained.prompt_ids("Once upon a time").unwrap();
        generate::cached(&pretrained.model, &prompt, &options, &mut go_on).unwrap().ids
    };
    let expected = text(&cpu());
    for device in cubes() {
        assert_eq!(text(&device), expected, "{}", device.name);
    }
}

#[test]
fn activations_in_int8_are_refused() {
    for device in cubes() {
        let storage = Storage { activations: Activations::Int8, ..stored(Quantized::Int8) };
        let error = Pretrained::bundled(&device, storage).unwrap_err();
        assert!(
            matches!(error, Error::Device(DeviceError::ActivationsUnsupported { .. })),
            "{error}"
        );
    }
}

/// A sequence has the same bits alone and among others, in prefill and in a step: in 16 bits with
/// `batch_invariant`.
#[test]
fn a_sequence_has_the_same_bits_in_every_batch() {
    for device in cubes() {
        let f16: Storage = Precision::F16.into();
        for storage in [Precision::F32.into(), stored(Quantized::Int4), f16] {
            let batch_invariant = storage.precision == Precision::F16;
            let device = OpenDevice { batch_invariant, ..device.clone() };
            if device.check(storage).is_err() {
                continue;
            }
            let folder = fixture("models/llama-gqa");
            let model = Pretrained::load(&folder, &device, storage).unwrap().model;
            let alone = batch(&model, 1);
            for others in [2, 33] {
                let found = batch(&model, 1 + others);
                assert!(found == alone, "{}, {storage:?}, among {others}", device.name);
            }
        }
    }
}

/// The bits of the logits of a sequence that is the last of `sequences`.
fn batch(model: &Model, sequences: usize) -> Vec<Vec<u32>> {
    let prompt = |i: usize| PROMPT.map(|id| (id + i as u32 * 7) % 250);
    let mut caches: Vec<_> =
        (0..sequences).map(|_| model.new_cache(PROMPT.len() + 1).unwrap()).collect();
    let mut rows = Vec::new();
    for (first, end) in [(0, 7), (7, 8), (8, 9)] {
        let prompts: Vec<_> = (0..sequences).rev().map(prompt).collect();
        let inputs = caches.iter_mut().zip(&prompts);
        let mut inputs: Vec<_> =
            inputs.map(|(cache, prompt)| Input::after(cache, &prompt[first..end])).collect();
        let last = model.forward(&mut inputs).unwrap().pop().unwrap();
        rows.push(last.iter().map(|logit| logit.to_bits()).collect());
    }
    rows
}
