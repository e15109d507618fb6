//! What a family's files may vary in, beyond what the fixtures do. Each variation is made from
//! a fixture so that the answer is known: it is that of the fixture.

use burn::tensor::{DType, Distribution, bf16, f16};
use safetensors::{Dtype, tensor::TensorView};
use slowburn::checkpoint::Weights;
use slowburn::model::linear::Weight;
use slowburn::model::{Role, Source};

use super::*;
use crate::common::distance;

const PROMPT: [u32; 6] = [5, 99, 17, 42, 260, 3];

fn answer(model: &Model) -> Vec<Vec<f32>> {
    model.forward(&mut [Input::whole(&PROMPT).with_logits(Logits::All)]).unwrap()
}

/// Loads a fixture with changes, and expects it to answer as without them.
#[track_caller]
fn same_answer(
    name: &str,
    change_config: impl FnOnce(&mut Value),
    change_weights: impl FnOnce(&mut Checkpoint),
) {
    let reference = answer(&load(name, &device()).model);
    let found = answer(&changed(name, change_config, change_weights));
    for (found, reference) in found.iter().zip(&reference) {
        assert_close(found, reference, 1e-5, name);
    }
}

/// The biases of the attention of `llama-gqa`, and of its feed-forward network, with their lengths.
const ATTENTION: [(&str, usize); 4] = [
    ("self_attn.q_proj", 64),
    ("self_attn.k_proj", 16),
    ("self_attn.v_proj", 16),
    ("self_attn.o_proj", 64),
];
const MLP: [(&str, usize); 3] = [
    ("mlp.gate_proj", 160),
    ("mlp.up_proj", 160),
    ("mlp.down_proj", 64),
];

/// Zeros for each of the biases `part`, in all three layers.
fn add_zero_biases(checkpoint: &mut Checkpoint, parts: &[(&str, usize)], dtype: &str) {
    let size = if dtype == "F32" { 4 } else { 2 };
    for layer in 0..3 {
        for (part, n) in parts {
            let name = format!("model.layers.{layer}.{part}.bias");
            checkpoint.add(&name, dtype, &[*n], &vec![0; n * size]);
        }
    }
}

#[test]
fn a_mistral_without_a_window_is_a_llama() {
    same_answer("llama-gqa", |config| config["model_type"] = "mistral".into(), |_| {});
}

#[test]
fn a_separate_head_may_hold_what_a_tied_one_does() {
    same_answer(
        "llama-gqa",
        |config| config["tie_word_embeddings"] = false.into(),
        |checkpoint| {
            let embedding = checkpoint.bytes("model.embed_tokens.weight").to_vec();
            checkpoint.add("lm_head.weight", "F32", &[320, 64], &embedding);
        },
    );
    same_answer(
        "gpt2",
        |config| config["tie_word_embeddings"] = false.into(),
        |checkpoint| {
            let embedding = checkpoint.bytes("transformer.wte.weight").to_vec();
            checkpoint.add("lm_head.weight", "F32", &[300, 48], &embedding);
        },
    );
}

/// A config that ties the head, beside a head: equal to the embedding it is tied, and else it is used.
#[test]
fn a_head_of_its_own_is_used_where_a_config_ties_it() {
    for (name, embedding, shape) in [
        ("llama-gqa", "model.embed_tokens.weight", [320, 64]),
        ("gpt2", "transformer.wte.weight", [300, 48]),
    ] {
        let with = |ties: bool, head: &dyn Fn(&[u8]) -> Vec<u8>| {
            changed(
                name,
                |config| config["tie_word_embeddings"] = ties.into(),
                |checkpoint| {
                    let head = head(checkpoint.bytes(embedding));
                    checkpoint.add("lm_head.weight", "F32", &shape, &head);
                },
            )
        };
        let equal = with(true, &<[u8]>::to_vec);
        assert!(equal.config().tied_head, "{name}");
        assert_eq!(answer(&equal), answer(&load(name, &device()).model), "{name}");

        let reversed = |bytes: &[u8]| bytes.chunks(4).rev().flatten().copied().collect();
        let other = with(true, &reversed);
        assert!(!other.config().tied_head, "{name}");
        assert_eq!(answer(&other), answer(&with(false, &reversed)), "{name}");
        assert_ne!(answer(&other), answer(&equal), "{name}");
    }
}

/// As in transformers: the one matrix is also found under the name of the head. A config that does not tie the
/// two asks for both.
#[test]
fn a_tied_matrix_may_be_stored_as_the_head() {
    for (name, embedding) in [
        ("llama-gqa", "model.embed_tokens.weight"),
        ("gpt2", "transformer.wte.weight"),
    ] {
        let rename = |checkpoint: &mut Checkpoint| {
            checkpoint.rename(|name| name.replace(embedding, "lm_head.weight"));
        };
        let ties = |config: &mut Value, ties: bool| config["tie_word_embeddings"] = ties.into();
        same_answer(name, |config| ties(config, true), rename);

        let error = try_changed(name, |config| ties(config, false), rename).unwrap_err();
        assert!(error.to_string().contains(&format!("`{embedding}` is missing")), "{error}");
    }
}

#[test]
fn names_may_lack_their_first_part() {
    let strip = |prefix: &'static str| {
        move |checkpoint: &mut Checkpoint| {
            checkpoint.rename(|name| name.strip_prefix(prefix).unwrap_or(name).to_owned());
        }
    };
    same_answer("gpt2", |_| {}, strip("transformer."));
    same_answer("llama-gqa", |_| {}, strip("model."));
}

#[test]
fn what_older_files_hold_beside_the_weights_is_ignored() {
    same_answer(
        "gpt2",
        |_| {},
        |checkpoint| {
            checkpoint.add("transformer.h.0.attn.bias", "U8", &[1, 1, 2, 2], &[1, 0, 1, 1]);
            checkpoint.add("transformer.h.0.attn.masked_bias", "F32", &[], &[0; 4]);
        },
    );
    same_answer(
        "qwen2",
        |_| {},
        |checkpoint| {
            let name = "model.layers.0.self_attn.rotary_emb.inv_freq";
            checkpoint.add(name, "F32", &[4], &[0; 16]);
        },
    );
}

#[test]
fn a_llama_may_have_biases_everywhere() {
    same_answer(
        "llama-gqa",
        |config| config["attention_bias"] = true.into(),
        |checkpoint| add_zero_biases(checkpoint, &ATTENTION, "F32"),
    );
    same_answer(
        "llama-gqa",
        |config| config["mlp_bias"] = true.into(),
        |checkpoint| add_zero_biases(checkpoint, &MLP, "F32"),
    );
    // A Qwen2 is a Llama whose biases are not zero, but for that of the output.
    same_answer(
        "qwen2",
        |config| {
            config["model_type"] = "llama".into();
            config["attention_bias"] = true.into();
        },
        |checkpoint| add_zero_biases(checkpoint, &[("self_attn.o_proj", 56)], "F16"),
    );
}

/// A bias in the output or in the feed-forward network has to change the answer.
#[test]
fn a_bias_that_is_not_zero_is_heard() {
    let last_row = |model: &Model| answer(model).pop().unwrap();
    let plain = last_row(&load("llama-gqa", &device()).model);
    for (field, biases, last) in [
        ("attention_bias", &ATTENTION[..], "self_attn.o_proj"),
        ("mlp_bias", &MLP, "mlp.down_proj"),
    ] {
        let biased = changed(
            "llama-gqa",
            |config| config[field] = true.into(),
            |checkpoint| {
                add_zero_biases(checkpoint, biases, "F32");
                let ones = 1f32.to_le_bytes().repeat(64);
                checkpoint.overwrite(&format!("model.layers.2.{last}.bias"), 0, &ones);
            },
        );
        assert!(distance(&last_row(&biased), &plain) > 0.01, "{field}");
    }
}

#[test]
fn rope_that_is_stretched_by_one_is_not_stretched() {
    for rope in [
        json!({"rope_type": "linear", "factor": 1.0}),
        json!({
            "rope_type": "llama3", "factor": 1.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        }),
    ] {
        same_answer("llama-gqa", |config| config["rope_parameters"] = rope, |_| {});
    }
}

/// Position interpolation: stretched by two, position 2p lies where p was.
#[test]
fn linear_scaling_moves_positions_together() {
    let device = Device::flex();
    let rope = |scaling| Rope::new(&RopeConfig { scaling, ..RopeConfig::new(10_000.0) }, 16);
    let options = (&device, DType::F32);
    let x = Tensor::<4>::random([1, 1, 2, 16], Distribution::Normal(0.0, 1.0), options);
    let turn = |scaling, position: usize| {
        let rotation = rope(scaling).rotation(&[position], &device);
        rotation.apply(x.clone()).try_into_vec_as::<f32>().unwrap()
    };
    for position in [0, 1, 7, 100] {
        let stretched = turn(RopeScaling::Linear { factor: 2.0 }, 2 * position);
        assert_close(&stretched, &turn(RopeScaling::None, position), 1e-6, "rope");
    }
}

/// Long enough that it is converted in several pieces, of which the last is not full.
const LONG: usize = 300_001;

#[test]
fn every_type_is_converted_to_every_other() {
    let numbers: Vec<f32> = (0..2 * LONG).map(|i| (i % 2039) as f32 * 0.125 - 100.0).collect();
    let stored = [
        (Dtype::F32, numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()),
        (
            Dtype::F16,
            numbers.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect(),
        ),
        (
            Dtype::BF16,
            numbers.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect(),
        ),
    ];
    let through = |dtype: DType, x: f32| match dtype {
        DType::F16 => f16::from_f32(x).to_f32(),
        DType::BF16 => bf16::from_f32(x).to_f32(),
        _ => x,
    };
    let device = Device::flex();
    for (from, bytes) in &stored {
        let view = TensorView::new(*from, vec![2, LONG], bytes).unwrap();
        let file = safetensors::serialize([("numbers", view)], None).unwrap();
        let rounded = match from {
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::BF16,
            _ => DType::F32,
        };
        for to in [DType::F32, DType::F16, DType::BF16] {
            let weights = Weights::from_safetensors(&file, "file", &device, to).unwrap();
            let matrix = weights.matrix("numbers", [2, LONG], Role::Layer).unwrap();
            #[allow(
                irrefutable_let_patterns,
                reason = "the kernels for GPUs add a variant"
            )]
            let Weight::Dense(tensor) = matrix else {
                panic!("panels of a GPU on the CPU")
            };
            let panels = weights.panels("numbers", [2, LONG], Role::Layer).unwrap();
            let mut packed = vec![0.0; 2 * LONG];
            for (output, row) in packed.chunks_exact_mut(LONG).enumerate() {
                panels.row(output, row);
            }
            for found in [
                tensor.val().cast(DType::F32).try_into_vec_as().unwrap(),
                packed,
            ] {
                let expected = numbers.iter().map(|x| through(to, through(rounded, *x)));
                assert!(found.into_iter().eq(expected), "{from:?} to {to:?}");
            }
        }
    }
}
