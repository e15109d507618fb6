//! What the newer members of the Llama family have that the fixtures of transformers do not show:
//! other names, other scalings, GGUF files. Each is made from a fixture so that the answer is known.

#![cfg(feature = "flex")]

#[path = "../common/mod.rs"]
mod common;
mod gguf;
mod mxfp4;
mod quantized;
mod variations;

use burn::tensor::{Device, Tensor};
use common::{Checkpoint, assert_close, copy_with_config, device, edit_checkpoint, fixture, load};
use serde_json::{Value, json};
use slowburn::device::Precision;
use slowburn::error::Result;
use slowburn::model::config::{RopeConfig, RopeScaling};
use slowburn::model::rope::Rope;
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;

fn prompt() -> Vec<u32> {
    (0..40).map(|i| (i * 37 + 11) % 250).collect()
}

fn logits(model: &Model) -> Vec<Vec<f32>> {
    model.forward(&mut [Input::whole(&prompt()).with_logits(Logits::All)]).unwrap()
}

/// A fixture with another `config.json` and other weights.
fn changed(
    name: &str,
    change: impl FnOnce(&mut Value),
    change_weights: impl FnOnce(&mut Checkpoint),
) -> Model {
    try_changed(name, change, change_weights).unwrap()
}

fn try_changed(
    name: &str,
    change: impl FnOnce(&mut Value),
    change_weights: impl FnOnce(&mut Checkpoint),
) -> Result<Model> {
    let folder = copy_with_config(&fixture(&format!("models/{name}")), change);
    edit_checkpoint(&folder.path().join("model.safetensors"), change_weights);
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32)?;
    assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
    Ok(pretrained.model)
}

/// Experts that are all the same network are that network, whoever is chosen, since the weights of
/// the chosen sum to 1. This also tests which of `w1`, `w2` and `w3` is which.
#[test]
fn a_mixtral_of_equal_experts_is_a_llama() {
    const EXPERTS: usize = 4;
    let model = changed(
        "llama-gqa",
        |config| {
            config["model_type"] = "mixtral".into();
            config["num_local_experts"] = EXPERTS.into();
            config["num_experts_per_tok"] = 3.into();
        },
        |checkpoint| {
            for layer in 0..3 {
                let prefix = format!("model.layers.{layer}");
                for (old, new, shape) in [
                    ("gate_proj", "w1", [160, 64]),
                    ("up_proj", "w3", [160, 64]),
                    ("down_proj", "w2", [64, 160]),
                ] {
                    let name = format!("{prefix}.mlp.{old}.weight");
                    let bytes = checkpoint.bytes(&name).to_vec();
                    let of = |expert: usize| {
                        format!("{prefix}.block_sparse_moe.experts.{expert}.{new}.weight")
                    };
                    checkpoint.rename(|old| if old == name { of(0) } else { old.to_owned() });
                    for expert in 1..EXPERTS {
                        checkpoint.add(&of(expert), "F32", &shape, &bytes);
                    }
                }
                let router: Vec<u8> = (0..EXPERTS * 64)
                    .flat_map(|i| ((i * 7919 % 101) as f32 / 50.0 - 1.0).to_le_bytes())
                    .collect();
                let name = format!("{prefix}.block_sparse_moe.gate.weight");
                checkpoint.add(&name, "F32", &[EXPERTS, 64], &router);
            }
        },
    );
    for (found, expected) in logits(&model).iter().zip(logits(&load("llama-gqa", &device()).model))
    {
        assert_close(found, &expected, 1e-4, "mixtral");
    }
    let routing = model.routing(&prompt()).unwrap();
    assert_eq!(routing.len(), 3);
    for weights in routing.iter().flat_map(|layer| layer.chunks(EXPERTS)) {
        assert_eq!(weights.iter().filter(|weight| **weight > 0.0).count(), 3);
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}

/// Without renormalization, the weights of the chosen sum to less than 1, and the answer is another.
#[test]
fn weights_are_renormalized_where_the_file_says_so() {
    let model = changed("qwen3-moe", |config| config["norm_topk_prob"] = false.into(), |_| {});
    let routing = model.routing(&prompt()).unwrap();
    assert!(routing[0].chunks(8).all(|weights| weights.iter().sum::<f32>() < 1.0));
    assert_ne!(logits(&model), logits(&load("qwen3-moe", &device()).model));
}

/// The cosines of one position, for each pair.
fn cosines(rope: &RopeConfig, head_dim: usize) -> Vec<f32> {
    let device = Device::flex();
    let mut numbers = vec![1.0_f32; head_dim / 2];
    numbers.resize(head_dim, 0.0);
    let x = Tensor::<1>::from_floats(numbers.as_slice(), &device).reshape([1, 1, 1, head_dim]);
    let turned = Rope::new(rope, head_dim).rotation(&[1], &device).apply(x);
    turned.try_into_vec_as::<f32>().unwrap()[..head_dim / 2].to_vec()
}

/// The frequencies that `_compute_yarn_parameters` of transformers gives, to the digits shown.
#[test]
fn yarn_has_the_frequencies_of_transformers() {
    for (original_context, truncate, expected) in [
        (
            64.0,
            true,
            [
                1.0,
                0.237_170_824_512_628_47,
                0.05,
                0.007_905_694_150_420_948,
            ],
        ),
        (
            512.0,
            false,
            [
                1.0,
                0.301_406_478_459_532_06,
                0.070_398_636_634_604_79,
                0.014_383_359_341_231_184,
            ],
        ),
    ] {
        let scaling = RopeScaling::Yarn {
            factor: 4.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            original_context,
            truncate,
        };
        let attention_factor = 1.138_629_436_111_989;
        let rope = RopeConfig { scaling, attention_factor, ..RopeConfig::new(10_000.0) };
        let rest = [
            0.0025,
            0.000_790_569_415_042_094_7,
            0.000_25,
            7.905_694_150_420_948e-5,
        ];
        let expected = expected.into_iter().chain(rest);
        for (found, frequency) in cosines(&rope, 16).into_iter().zip(expected) {
            let expected = attention_factor * f64::cos(frequency);
            assert!((f64::from(found) - expected).abs() < 1e-6, "{found}, {expected}");
        }
    }
}

/// A config says so by `rope_scaling`, and what it leaves out follows from the rest.
#[test]
fn yarn_and_dynamic_are_read_from_the_file() {
    let plain = logits(&load("llama-gqa", &device()).model);
    let with = |rope: Value| {
        logits(&changed(
            "llama-gqa",
            |config| {
                config["rope_parameters"] = Value::Null;
                config["rope_scaling"] = rope;
            },
            |_| {},
        ))
    };
    // Within the context of the file, `dynamic` changes nothing.
    assert_eq!(with(json!({"type": "dynamic", "factor": 4.0})), plain);
    // A factor of 1 neither stretches nor sharpens.
    assert_eq!(with(json!({"rope_type": "yarn", "factor": 1.0})), plain);
    let stretched =
        with(json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}));
    assert_ne!(stretched, plain);
}

/// Factors of 1, in a model whose context is the original one, are no factors.
#[test]
fn longrope_divides_frequencies_by_its_factors() {
    let plain = logits(&load("phi3", &device()).model);
    let with = |short: f64, long: f64| {
        let rope = json!({
            "rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "short_factor": vec![short; 6], "long_factor": vec![long; 6],
        });
        logits(&changed("phi3", |config| config["rope_parameters"] = rope, |_| {}))
    };
    assert_eq!(with(1.0, 2.0), plain);
    assert_ne!(with(1.5, 2.0), plain);
}

/// A model of several parts has the config of its text in `text_config`, and the tensors of its text under
/// longer names.
#[test]
fn the_part_of_text_is_loaded_and_others_are_skipped() {
    let expected = logits(&load("ministral3", &device()).model);
    for [text, head] in [
        ["model.language_model.", "lm_head."],
        ["language_model.model.", "language_model.lm_head."],
    ] {
        let folder = copy_with_config(&fixture("models/ministral3"), |config| {
            *config = json!({
                "model_type": "mistral3", "tie_word_embeddings": false,
                "text_config": config.take(), "vision_config": {"hidden_size": 8},
            });
        });
        edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
            checkpoint.rename(|name| match name.strip_prefix("model.") {
                Some(rest) => format!("{text}{rest}"),
                None => name.replace("lm_head.", head),
            });
            checkpoint.add("vision_tower.patch_conv.weight", "F32", &[1], &[0; 4]);
        });
        let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
        assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
        assert!(pretrained.warnings[0].contains("`vision_tower`"), "{:?}", pretrained.warnings);
        assert_eq!(logits(&pretrained.model), expected, "{text}");
    }
}

/// Qwen 3.5 as it is published: with a part for pictures and one that predicts several tokens at once, and with the
/// experts of a layer in one tensor.
#[test]
fn a_qwen_of_several_parts_is_its_text() {
    const EXPERTS: usize = 8;
    const D_FF: usize = 40;
    const D_MODEL: usize = 64;
    let expected = logits(&load("qwen35-moe", &device()).model);
    let folder = copy_with_config(&fixture("models/qwen35-moe"), |config| {
        *config = json!({
            "model_type": "qwen3_5_moe", "text_config": config.take(), "vision_config": {"depth": 2},
        });
    });
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        let mut made = Checkpoint { header: serde_json::Map::new(), data: Vec::new() };
        for (name, entry) in checkpoint.header.iter().filter(|(name, _)| *name != "__metadata__") {
            let shape: Vec<usize> = serde_json::from_value(entry["shape"].clone()).unwrap();
            let nested = match name.strip_prefix("model.") {
                Some(rest) => format!("model.language_model.{rest}"),
                None => name.clone(),
            };
            if !name.contains(".experts.") {
                made.add(&nested, "BF16", &shape, checkpoint.bytes(name));
            }
        }
        for layer in 0..4 {
            let all = |parts: &[&str]| -> Vec<u8> {
                let name = |expert: usize, part: &&str| {
                    format!("model.layers.{layer}.mlp.experts.{expert}.{part}.weight")
                };
                let of = |expert| parts.iter().map(move |part| name(expert, part));
                (0..EXPERTS)
                    .flat_map(of)
                    .flat_map(|name| checkpoint.bytes(&name).to_vec())
                    .collect()
            };
            let name = format!("model.language_model.layers.{layer}.mlp.experts");
            let gate_up = all(&["gate_proj", "up_proj"]);
            let shape = [EXPERTS, 2 * D_FF, D_MODEL];
            made.add(&format!("{name}.gate_up_proj"), "BF16", &shape, &gate_up);
            let shape = [EXPERTS, D_MODEL, D_FF];
            made.add(&format!("{name}.down_proj"), "BF16", &shape, &all(&["down_proj"]));
        }
        made.add("mtp.norm.weight", "BF16", &[1], &[0; 2]);
        made.add("model.visual.merger.norm.weight", "BF16", &[1], &[0; 2]);
        *checkpoint = made;
    });
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
    assert!(pretrained.warnings[0].contains("`mtp`, `visual`"), "{:?}", pretrained.warnings);
    assert_eq!(logits(&pretrained.model), expected);
}

/// Gemma 4 as it is published: with parts for pictures and sound, and with matrices in layers that read the keys and
/// values of earlier ones.
#[test]
fn a_gemma_4_of_several_parts_is_its_text() {
    let expected = logits(&load("gemma4", &device()).model);
    let folder = copy_with_config(&fixture("models/gemma4"), |config| {
        let fields = config.as_object_mut().unwrap();
        fields.remove("per_layer_config");
        fields.insert("global_head_dim".to_owned(), 32.into());
        fields.insert("num_global_key_value_heads".to_owned(), 1.into()); // not used here
        *config = json!({
            "model_type": "gemma4", "text_config": config.take(), "vision_config": {}, "audio_config": {},
        });
    });
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        checkpoint.rename(|name| match name.strip_prefix("model.") {
            Some(rest) => format!("model.language_model.{rest}"),
            None => name.to_owned(),
        });
        let layer = "model.language_model.layers.4.self_attn";
        checkpoint.add(&format!("{layer}.k_proj.weight"), "BF16", &[1], &[0; 2]);
        checkpoint.add(&format!("{layer}.k_norm.weight"), "BF16", &[1], &[0; 2]);
        for part in ["vision_tower", "audio_tower", "embed_vision"] {
            checkpoint.add(&format!("model.{part}.weight"), "BF16", &[1], &[0; 2]);
        }
    });
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
    let parts = "`audio_tower`, `embed_vision`, `vision_tower`";
    assert!(pretrained.warnings[0].contains(parts), "{:?}", pretrained.warnings);
    assert_eq!(logits(&pretrained.model), expected);
}

/// Layers that share keys and values have no memory for them, and heads of a layer may have a size of their own.
#[test]
fn what_gemma_4_keeps_is_counted_by_layers() {
    // Layers 0, 1 and 2 have keys and values: two heads of 16 numbers, or in the last of them of 32.
    let model = load("gemma4", &device()).model;
    assert_eq!(model.kv_pool().block_bytes(), 2 * 32 * 4 * 2 * (16 + 16 + 32));
    // One head of 32 in every other layer.
    let model = load("gemma4-moe", &device()).model;
    assert_eq!(model.kv_pool().block_bytes(), 2 * 32 * 4 * 2 * (2 * 16 + 32));
}

/// Of a position the latent vector is kept, of 24 numbers, and the part of its keys that is rotated, of 8: once for all
/// heads. Keys of 24 numbers and values of 16, of 4 heads, would be 160.
#[test]
fn what_deepseek_keeps_is_latent() {
    for name in ["deepseek-v2", "deepseek-v3", "glm4-moe-lite"] {
        let model = load(name, &device()).model;
        assert_eq!(model.kv_pool().block_bytes(), 3 * 32 * (24 + 8) * 4, "{name}");
        let mut cache = model.new_cache(64).unwrap();
        model.forward(&mut [Input::after(&mut cache, &[1; 33])]).unwrap();
        assert_eq!(cache.bytes(), 2 * model.kv_pool().block_bytes(), "{name}");
    }
}

/// The layers of DeepSeek behind its last one predict several tokens at once.
#[test]
fn layers_of_multi_token_prediction_are_skipped() {
    let folder = copy_with_config(&fixture("models/deepseek-v3"), |_| {});
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        checkpoint.add("model.layers.3.eh_proj.weight", "F32", &[1], &[0; 4]);
        checkpoint.add("model.layers.2.other.weight", "F32", &[1], &[0; 4]);
    });
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    assert_eq!(pretrained.unused, ["model.layers.2.other.weight"]);
    assert!(pretrained.warnings[0].contains("`layers.3`"), "{:?}", pretrained.warnings);
}

/// Caps that no score reaches bound nothing; low ones change the answer.
#[test]
fn soft_caps_bound_scores_and_logits() {
    let plain = logits(&load("gemma3", &device()).model);
    let with = |field: &str, cap: f64| {
        logits(&changed("gemma3", |config| config[field] = cap.into(), |_| {}))
    };
    for field in ["attn_logit_softcapping", "final_logit_softcapping"] {
        for (found, expected) in with(field, 1e6).iter().zip(&plain) {
            assert_close(found, expected, 2e-2, field);
        }
        assert_ne!(with(field, 0.5), plain);
    }
    let capped = with("final_logit_softcapping", 5.0);
    for (capped, plain) in capped.iter().flatten().zip(plain.iter().flatten()) {
        let expected = 5.0 * (plain / 5.0).tanh();
        assert!((capped - expected).abs() < 1e-5, "{capped}, {expected}");
    }
}
