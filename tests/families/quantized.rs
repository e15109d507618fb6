//! Checkpoints that somebody else quantized, in the layouts of their libraries. What `fixtures/quantized` expects
//! was computed by transformers, from the numbers that those libraries make of their own files.

use burn::tensor::f16;
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
    ("fp8-blocks", "fp8"),
    ("fp8-tensor", "fp8"),
    ("compressed-fp8", "fp8"),
    ("compressed-int8", "int8"),
    ("compressed-int4", "int4"),
    ("compressed-int4-zeros", "int4"),
    // Groups of columns that are apart are no groups of panels.
    ("compressed-int4-order", "f32"),
    ("compressed-nvfp4", "nvfp4"),
    ("compressed-mxfp4", "mxfp4"),
    ("modelopt-fp8", "fp8"),
    ("modelopt-nvfp4", "nvfp4"),
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
    for name in [
        "fp8-blocks",
        "compressed-int4-zeros",
        "compressed-nvfp4",
        "compressed-mxfp4",
    ] {
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

/// What a layer of a fixture becomes: numbers of so many bits, zero points and scales, all made by a rule.
struct Layer {
    n_in: usize,
    n_out: usize,
    bits: usize,
    seed: usize,
}

impl Layer {
    const GROUP: usize = 32;

    fn number(&self, output: usize, input: usize) -> usize {
        let i = output * self.n_in + input;
        (i * i * 31 + i * 7 + self.seed) / 3 % (1 << self.bits)
    }

    /// What is stored: the zero point, or one less.
    fn zero(&self, output: usize, group: usize) -> usize {
        (output * 5 + group * 3) % ((1 << self.bits) - 1)
    }

    fn scale(output: usize, group: usize) -> f16 {
        f16::from_f32(0.01 + (output * 7 % 13 + group) as f32 / 2048.0)
    }

    /// The tensors of GPTQ, by their names' ends.
    fn packed(&self) -> [(&'static str, &'static str, [usize; 2], Vec<u8>); 3] {
        let Self { n_in, n_out, bits, .. } = *self;
        let groups = n_in / Self::GROUP;
        let columns: Vec<Vec<u32>> = (0..n_out)
            .map(|output| stream(bits, (0..n_in).map(|input| self.number(output, input))))
            .collect();
        let words = columns[0].len();
        let qweight = (0..words).flat_map(|word| columns.iter().map(move |column| column[word]));
        let qzeros = (0..groups)
            .flat_map(|group| stream(bits, (0..n_out).map(move |output| self.zero(output, group))));
        let scales = (0..groups).flat_map(|group| (0..n_out).map(move |o| Self::scale(o, group)));
        [
            ("qweight", "I32", [words, n_out], qweight.flat_map(u32::to_le_bytes).collect()),
            (
                "qzeros",
                "I32",
                [groups, (n_out * bits).div_ceil(32)],
                qzeros.flat_map(u32::to_le_bytes).collect(),
            ),
            ("scales", "F16", [groups, n_out], scales.flat_map(f16::to_le_bytes).collect()),
        ]
    }

    /// Its weights in f32, with zero points that are so much more than what is stored.
    fn weights(&self, zero_offset: usize) -> Vec<u8> {
        let weight = |output: usize, input: usize| {
            let group = input / Self::GROUP;
            let zero = self.zero(output, group) + zero_offset;
            Self::scale(output, group).to_f32() * (self.number(output, input) as f32 - zero as f32)
        };
        let all = (0..self.n_out).flat_map(|o| (0..self.n_in).map(move |i| (o, i)));
        all.flat_map(|(output, input)| weight(output, input).to_le_bytes()).collect()
    }
}

/// Numbers bit by bit, from the lowest bit of the first word on.
fn stream(bits: usize, numbers: impl Iterator<Item = usize>) -> Vec<u32> {
    let numbers: Vec<usize> = numbers.collect();
    let mut words = vec![0; (numbers.len() * bits).div_ceil(32)];
    for (place, bit) in numbers.iter().flat_map(|n| (0..bits).map(move |b| n >> b & 1)).enumerate()
    {
        words[place / 32] |= (bit as u32) << (place % 32);
    }
    words
}

/// AutoGPTQ's own description of 3 bits: ten numbers, one that two words share, ten, another that two share, and ten.
#[test]
fn three_bits_are_packed_as_autogptq_does() {
    let numbers: Vec<u32> = (0..32).map(|i| (i * i * 31 + i * 7) / 3 % 8).collect();
    let ten = |first: usize, place: usize| -> u32 {
        (0..10).map(|i| numbers[first + i] << (3 * i + place)).sum()
    };
    let expected = [
        ten(0, 0) | numbers[10] << 30,
        numbers[10] >> 2 | ten(11, 1) | numbers[21] << 31,
        numbers[21] >> 1 | ten(22, 2),
    ];
    assert_eq!(stream(3, numbers.iter().map(|number| *number as usize)), expected);
}

/// The fixture of GPTQ with other numbers in its matrices, packed, or unpacked with `zero_offset`.
fn with_numbers(bits: usize, config: Option<Value>, zero_offset: usize) -> Model {
    let is_packed = config.is_some();
    let folder = copy_with_config(&fixture("quantized/gptq"), |json| {
        json["quantization_config"] = config.unwrap_or_default();
    });
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        let header = checkpoint.header.clone();
        let names = header.keys().filter_map(|name| name.strip_suffix("qweight"));
        for (seed, name) in names.enumerate() {
            let shape: [usize; 2] =
                serde_json::from_value(header[&format!("{name}qweight")]["shape"].clone()).unwrap();
            let layer = Layer { n_in: shape[0] * 8, n_out: shape[1], bits, seed };
            let parts =
                ["qweight", "qzeros", "scales", "g_idx"].map(|part| format!("{name}{part}"));
            checkpoint.retain(|name| !parts.iter().any(|part| part == name));
            if is_packed {
                for (part, dtype, shape, bytes) in layer.packed() {
                    checkpoint.add(&format!("{name}{part}"), dtype, &shape, &bytes);
                }
            } else {
                let shape = [layer.n_out, layer.n_in];
                let bytes = layer.weights(zero_offset);
                checkpoint.add(&format!("{name}weight"), "F32", &shape, &bytes);
            }
        }
    });
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
    pretrained.model
}

/// Numbers of 3, 5, 6 and 7 bits do not end where words do.
#[test]
fn gptq_and_auto_round_have_numbers_of_any_bits() {
    let gptq = |bits: usize, format: &str| json!({"quant_method": "gptq", "bits": bits, "group_size": 32, "sym": false, "checkpoint_format": format});
    let auto_round = |bits: usize, format: &str| json!({"quant_method": "auto-round", "bits": bits, "group_size": 32, "sym": false, "packing_format": format});
    let cases = [2, 3, 4, 8].map(|bits| (bits, gptq(bits, "gptq"), 1));
    let others = [3, 5, 6, 7].map(|bits| (bits, auto_round(bits, "auto_round:auto_gptq"), 1));
    let rest = [
        (3, gptq(3, "gptq_v2"), 0),
        (4, auto_round(4, "auto_round"), 0),
        (3, auto_round(3, "auto_round:gptqmodel"), 0),
    ];
    for (bits, config, zero_offset) in cases.into_iter().chain(others).chain(rest) {
        let name = config.to_string();
        let expected = crate::logits(&with_numbers(bits, None, zero_offset));
        let found = with_numbers(bits, Some(config), zero_offset);
        assert_eq!(found.weight_formats()[0], if bits > 4 { "int8" } else { "int4" }, "{name}");
        for (found, expected) in crate::logits(&found).iter().zip(&expected) {
            assert_relatively_close(found, expected, 2e-5, &name);
        }
    }
}

#[test]
fn auto_round_packs_as_gptq_or_as_awq() {
    for (name, layout) in [
        ("gptq", "auto_round:auto_gptq"),
        ("awq", "auto_round:auto_awq"),
    ] {
        let folder = copy_with_config(&fixture(&format!("quantized/{name}")), |config| {
            let bits = config["quantization_config"]["bits"].clone();
            config["quantization_config"] =
                json!({"quant_method": "auto-round", "bits": bits, "packing_format": layout});
        });
        // AutoRound names no groups of columns, which are in their order.
        edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
            checkpoint.retain(|name| !name.ends_with("g_idx"));
        });
        let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
        assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
        let expected = load(name, Precision::F32).model;
        assert_eq!(crate::logits(&pretrained.model), crate::logits(&expected), "{name}");
    }
    let with = |field: &'static str, value: Value| {
        refused("gptq", |config| {
            let of = &mut config["quantization_config"];
            of["quant_method"] = "auto-round".into();
            of[field] = value;
        })
    };
    let error = with("packing_format", json!("auto_round:fp8_static"));
    assert_says(&error, &["packing_format", "fp8_static", "`auto_round:auto_gptq`"]);
    let error = with("rotation_config", json!({"block_size": 32}));
    assert_says(&error, &["rotation_config", "not rotated"]);
    let error = with("bits", json!(16));
    assert_says(&error, &["bits` is 16", "2 to 8 bits"]);
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
        ("gptq", "bits", json!(5), ["bits` is 5", "2, 3, 4 or 8 bits"]),
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

/// Experts in one tensor, quantized: MXFP4 is read so, everything else is refused by the tensor's name.
#[test]
fn fused_experts_in_other_formats_are_refused_by_name() {
    for (model, tensor) in [
        ("gpt-oss", "model.layers.0.mlp.experts.gate_up_proj"),
        ("gemma4-moe", "model.layers.0.experts.gate_up_proj"),
    ] {
        let error = crate::try_changed(
            model,
            |config| config["quantization_config"] = json!({"quant_method": "fp8"}),
            |checkpoint| {
                let shape = checkpoint.header[tensor]["shape"].clone();
                let shape: Vec<usize> = serde_json::from_value(shape).unwrap();
                checkpoint.retain(|name| name != tensor);
                let codes = vec![0x38; shape.iter().product()];
                checkpoint.add(tensor, "F8_E4M3", &shape, &codes);
                let scales = [shape[0], 1, 1];
                checkpoint.add(
                    &format!("{tensor}_scale_inv"),
                    "F32",
                    &scales,
                    &vec![0; 4 * shape[0]],
                );
            },
        );
        assert_says(&error.map(|_| ()).unwrap_err(), &[tensor, "F8_E4M3"]);
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
