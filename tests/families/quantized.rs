//! Checkpoints that somebody else quantized, in the layouts of their libraries. What `fixtures/quantized` expects
//! was computed by transformers, from the numbers that those libraries make of their own files.

use serde_json::{Value, json};
use slowburn::Error;
use slowburn::device::Precision;
use slowburn::generate;
use slowburn::kernels::{Cpu, Quantized, Simd};
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;
use slowburn::storage::Storage;

use crate::common::texts::greedy;
use crate::common::{
    assert_relatively_close, assert_says, copy_of, copy_with_config, device, edit_checkpoint,
    expected_in, fixture, go_on,
};

/// The layouts, and what their matrices become unless another format is asked for.
const LAYOUTS: [(&str, &str); 18] = [
    ("fp8-blocks", "f32"),
    ("fp8-tensor", "f32"),
    ("compressed-fp8", "f32"),
    ("compressed-int8", "int8"),
    ("compressed-int4", "int4"),
    ("compressed-int4-zeros", "int4"),
    // Groups of columns that are apart are no groups of panels.
    ("compressed-int4-order", "f32"),
    ("compressed-nvfp4", "int8"),
    ("compressed-mxfp4", "int8"),
    ("modelopt-fp8", "f32"),
    ("modelopt-nvfp4", "int8"),
    ("awq", "int4"),
    ("gptq", "int4"),
    ("gptq-order", "f32"),
    ("gptq-int8", "int8"),
    ("nf4", "f32"),
    ("fp4", "f32"),
    ("int8", "int8"),
];

fn load(name: &str, storage: impl Into<Storage>) -> Pretrained {
    let folder = fixture(&format!("quantized/{name}"));
    Pretrained::load(&folder, &device(), storage).unwrap()
}

/// As a share of the largest logit. With zero points, a group is the difference of two sums, each of which is rounded.
fn tolerance(name: &str) -> f32 {
    if ["awq", "compressed-int4-zeros"].contains(&name) {
        2e-5
    } else {
        1e-5
    }
}

#[test]
fn every_layout_gives_the_logits_and_tokens_of_its_numbers() {
    for (name, format) in LAYOUTS {
        let Pretrained { model, unused, warnings, .. } = load(name, Precision::F32);
        assert!(unused.is_empty() && warnings.is_empty(), "{name}: {unused:?}, {warnings:?}");
        assert_eq!(model.weight_formats()[0], format, "{name}");
        let expected = expected_in(&fixture(&format!("quantized/{name}")));
        for (i, prompt) in expected.prompts.iter().enumerate() {
            let rows = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)]).unwrap();
            for (row, reference) in rows.iter().zip(&expected.logits[i]) {
                assert_relatively_close(row, reference, tolerance(name), name);
            }
            let options = greedy(expected.greedy[i].len());
            let found = generate::cached(&model, prompt, &options, &mut go_on).unwrap();
            assert_eq!(found.ids, expected.greedy[i], "{name}");
        }
    }
}

/// What is asked for is what weights are stored in, whatever the file has.
#[test]
fn another_format_may_be_asked_for() {
    for (name, _) in LAYOUTS {
        let exact = load(name, Precision::F32);
        let int8 = Storage { layers: Some(Quantized::Int8), ..Precision::F32.into() };
        let int8 = load(name, int8);
        assert_eq!(int8.model.weight_formats(), ["int8"], "{name}");
        for (found, exact) in crate::logits(&int8.model).iter().zip(&crate::logits(&exact.model)) {
            assert_relatively_close(found, exact, 0.2, name);
        }
        let folder = fixture(&format!("quantized/{name}"));
        assert_eq!(Pretrained::precision_of(&folder).unwrap(), Precision::F32, "{name}");
    }
}

/// Keys and values are stored as the user says, and their scales in a file are for others.
#[test]
fn a_scheme_for_keys_and_values_is_not_followed_and_a_note_says_so() {
    let folder = copy_with_config(&fixture("quantized/compressed-fp8"), |config| {
        config["quantization_config"]["kv_cache_scheme"] = json!({"num_bits": 8, "type": "float"});
    });
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        for name in ["k_scale", "v_scale"] {
            checkpoint.add(&format!("model.layers.0.self_attn.{name}"), "F32", &[1], &[0; 4]);
        }
    });
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
    assert!(pretrained.warnings[0].contains("kv_cache_scheme"), "{:?}", pretrained.warnings);
    assert_eq!(
        crate::logits(&pretrained.model),
        crate::logits(&load("compressed-fp8", Precision::F32).model)
    );
}

fn bits(rows: &[Vec<f32>]) -> Vec<u32> {
    rows.iter().flatten().map(|logit| logit.to_bits()).collect()
}

#[test]
fn the_bits_are_the_same_on_every_way() {
    let ids: Vec<u32> = (0..60).map(|i| (i * 37 + 11) % 300).collect();
    for name in ["fp8-blocks", "compressed-int4-zeros", "compressed-nvfp4"] {
        let in_chunks = |model: &Model, size: usize| -> Vec<Vec<f32>> {
            let mut cache = model.new_cache(ids.len()).unwrap();
            let read = |chunk: &[u32]| {
                let input = Input::after(&mut cache, chunk).with_logits(Logits::All);
                model.forward(&mut [input]).unwrap()
            };
            ids.chunks(size).flat_map(read).collect()
        };
        let ways = Simd::available().into_iter().flat_map(|simd| [1, 3].map(|n| (simd, n)));
        let all: Vec<Vec<u32>> = ways
            .flat_map(|(simd, threads)| {
                let cpu = Cpu::new(simd, threads).unwrap();
                let model = cpu.enter(|| load(name, Precision::F32).model);
                [60, 7, 1].map(|size| bits(&in_chunks(&model, size)))
            })
            .collect();
        assert!(all.iter().all(|found| *found == all[0]), "{name}");
    }
}

fn refused(name: &str, change: impl FnOnce(&mut Value)) -> Error {
    let folder = copy_with_config(&fixture(&format!("quantized/{name}")), change);
    match Pretrained::load(folder.path(), &device(), Precision::F32) {
        Ok(_) => panic!("{name} was loaded"),
        Err(error) => error,
    }
}

/// What is not read is refused by its name, with what is.
#[test]
fn other_layouts_are_refused_by_name() {
    let compressed = "compressed-int4";
    let weights =
        |bits: u8, kind: &str| json!({"g": {"weights": {"num_bits": bits, "type": kind}}});
    for (name, field, value, says) in [
        ("awq", "version", json!("gemv"), ["version` is \"gemv\"", "`gemm`"]),
        ("awq", "bits", json!(3), ["bits` is 3", "4 bits"]),
        ("gptq", "bits", json!(3), ["bits` is 3", "2, 4 or 8 bits"]),
        ("gptq", "checkpoint_format", json!("marlin"), ["marlin", "`gptq_v2`"]),
        ("gptq", "is_marlin_format", json!(true), ["marlin", "`gptq_v2`"]),
        ("gptq", "quant_method", json!("aqlm"), ["aqlm", "`awq`"]),
        (
            "fp8-blocks",
            "weight_block_size",
            json!([0, 128]),
            ["weight_block_size", "1 at least"],
        ),
        (compressed, "format", json!("marlin-24"), ["marlin-24", "`pack-quantized`"]),
        (
            compressed,
            "sparsity_config",
            json!({"format": "sparse-24-bitmask"}),
            ["24", "not sparse"],
        ),
        (
            compressed,
            "transform_config",
            json!({"config_groups": {"R1": {}}}),
            ["R1", "not rotated"],
        ),
        (compressed, "config_groups", weights(3, "int"), ["3", "2, 4 or 8 bits"]),
        (compressed, "config_groups", weights(6, "float"), ["6", "4 or 8 bits"]),
    ] {
        let error = refused(name, |config| config["quantization_config"][field] = value);
        assert_says(&error, &["config.json", "quantization_config", says[0], says[1]]);
    }
}

/// A file that is not what its config says.
#[test]
fn tensors_that_do_not_fit_are_named() {
    let layer = "model.layers.0.mlp.down_proj.";
    for (name, tensor, shape, says) in [
        ("fp8-blocks", "weight", vec![160, 64], "[64, 160]"),
        ("compressed-int4", "weight_scale", vec![32, 10], "[64, 5]"),
        ("compressed-int4", "weight_packed", vec![32, 40], "weight_packed"),
        ("awq", "qweight", vec![64, 20], "[160, 8]"),
        ("awq", "scales", vec![320], "scales"),
        ("gptq", "qzeros", vec![8, 5], "[5, 8]"),
        ("gptq", "g_idx", vec![80, 2], "g_idx"),
        ("nf4", "weight.absmax", vec![80, 2], "absmax"),
        ("int8", "SCB", vec![8, 8], "SCB"),
    ] {
        let folder = copy_of(&fixture(&format!("quantized/{name}")));
        edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
            checkpoint.header[&format!("{layer}{tensor}")]["shape"] = json!(shape);
        });
        let error = Pretrained::load(folder.path(), &device(), Precision::F32).map(|_| ());
        assert_says(&error.unwrap_err(), &[tensor, says]);
    }
    let folder = copy_of(&fixture("quantized/gptq"));
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        checkpoint.overwrite(&format!("{layer}g_idx"), 0, &9_u32.to_le_bytes());
    });
    let error = Pretrained::load(folder.path(), &device(), Precision::F32).map(|_| ());
    assert_says(&error.unwrap_err(), &["g_idx", "5"]);
}
