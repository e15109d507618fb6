//! The same models from GGUF files.

use std::collections::BTreeMap;

use burn::tensor::{DType, Device, bf16, f16};
use serde_json::Value;
use slowburn::checkpoint::Weights;
use slowburn::checkpoint::gguf::GgufFile;
use slowburn::model::config::{Family, RopeConfig, RopeScaling};
use slowburn::model::linear::Weight;
use slowburn::model::{Model, ModelConfig, Role, Source};

use crate::common::gguf::{Gguf, Info, Meta};
use crate::common::{Checkpoint, assert_close, device, fixture, load, read_json};
use crate::{changed, logits};

/// What a file says of a model, besides what [`in_gguf`] reads from its `config.json`.
type Metadata<'a> = &'a [(&'a str, Meta)];

/// A tensor in the making: its shape as in a file, and its numbers.
type Numbers = (Vec<u64>, Vec<f32>);

/// Makes a GGUF file of a fixture, as llama.cpp's converter does.
fn in_gguf(name: &str, architecture: &str, metadata: Metadata<'_>) -> Gguf {
    let config = read_json(&fixture(&format!("models/{name}/config.json")));
    let mut file = Gguf {
        version: 3,
        metadata: Vec::new(),
        tensors: Vec::new(),
        data: Vec::new(),
    };
    file.set("general.architecture", Meta::Text(architecture.to_owned()));
    for (key, field) in [
        ("block_count", "num_hidden_layers"),
        ("context_length", "max_position_embeddings"),
        ("embedding_length", "hidden_size"),
        ("feed_forward_length", "intermediate_size"),
        ("attention.head_count", "num_attention_heads"),
        ("attention.head_count_kv", "num_key_value_heads"),
        ("attention.key_length", "head_dim"),
        ("attention.value_length", "head_dim"),
    ] {
        if let Some(size) = config[field].as_u64() {
            file.set(&format!("{architecture}.{key}"), Meta::U32(size as u32));
        }
    }
    let eps = config["rms_norm_eps"].as_f64().or(config["norm_eps"].as_f64()).unwrap() as f32;
    file.set(&format!("{architecture}.attention.layer_norm_rms_epsilon"), Meta::F32(eps));
    for (key, value) in metadata {
        file.set(&format!("{architecture}.{key}"), value.clone());
    }
    for (tensor, (shape, numbers)) in tensors(name, architecture, &config) {
        add(&mut file, tensor, shape, &numbers);
    }
    file
}

fn add(file: &mut Gguf, name: String, shape: Vec<u64>, numbers: &[f32]) {
    let offset = file.data.len() as u64;
    file.data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    file.data.resize(file.data.len().next_multiple_of(32), 0);
    file.tensors.push(Info { name, shape, kind: 0, offset });
}

/// The tensors of a fixture, by their names in a file. The experts of a layer are one tensor.
fn tensors(name: &str, architecture: &str, config: &Value) -> BTreeMap<String, Numbers> {
    let heads = config["num_attention_heads"].as_u64().unwrap();
    let head_dim = config["head_dim"].as_u64();
    let head_dim = head_dim.unwrap_or(config["hidden_size"].as_u64().unwrap() / heads) as usize;
    let path = fixture(&format!("models/{name}/model.safetensors"));
    let checkpoint = Checkpoint::parse(&std::fs::read(path).unwrap());
    let mut tensors: BTreeMap<String, Numbers> = BTreeMap::new();
    // The names of experts are in the order of their numbers.
    for (name, entry) in checkpoint.header.iter().filter(|(name, _)| *name != "__metadata__") {
        let shape = entry["shape"].as_array().unwrap().iter().rev();
        let mut shape: Vec<u64> = shape.map(|size| size.as_u64().unwrap()).collect();
        let mut numbers = widened(checkpoint.bytes(name), entry["dtype"].as_str().unwrap());
        let is_one_plus = match architecture {
            "gemma3" => name.contains("norm"),
            "qwen35" | "qwen35moe" => name.contains("norm") && !name.contains("linear_attn"),
            _ => false,
        };
        if is_one_plus {
            numbers.iter_mut().for_each(|number| *number += 1.0);
        }
        if name.ends_with("A_log") {
            for number in &mut numbers {
                *number = -f64::from(*number).exp() as f32;
            }
        }
        if let Some((_, part)) = name.split_once(".linear_attn.") {
            numbers = in_turns(&numbers, part, shape[0] as usize, config);
        }
        let is_turned = name.contains(".q_proj.") || name.contains(".k_proj.");
        if is_turned && ["llama", "smollm3", "granite", "mistral3"].contains(&architecture) {
            numbers = interleaved(&numbers, shape[0] as usize, head_dim);
        }
        if architecture == "gpt-oss" && name.contains(".experts.") {
            tensors.extend(experts_of_gpt_oss(name, &shape, &numbers));
            continue;
        }
        if name.contains("kv_b_proj") {
            tensors.extend(keys_and_values(name, architecture, &numbers, config));
            continue;
        }
        if name.contains(".conv.conv.") || name.contains(".conv1d.") {
            shape.retain(|size| *size != 1);
        }
        if architecture != "gemma4" && name.contains(".experts.") {
            shape.push(0);
        }
        let (stack, all) = tensors.entry(in_file(name, architecture)).or_insert((shape, vec![]));
        all.extend(numbers);
        if let Some(count) = stack.get_mut(2).filter(|_| architecture != "gemma4") {
            *count += 1;
        }
    }
    tensors
}

/// A tensor of the gated delta rule, in which heads of values take turns: one of each key, then the second of each.
fn in_turns(numbers: &[f32], part: &str, columns: usize, config: &Value) -> Vec<f32> {
    let size = |field: &str| config[field].as_u64().unwrap() as usize;
    let (keys, of_values) = (size("linear_num_key_heads"), size("linear_value_head_dim"));
    let of_key = size("linear_num_value_heads") / keys;
    let first = 2 * keys * size("linear_key_head_dim");
    // How many numbers of a head are together, and where its heads begin.
    let (head, first) = match part {
        "in_proj_qkv.weight" => (of_values * columns, first * columns),
        "conv1d.weight" => (of_values * columns, first * columns),
        "in_proj_z.weight" => (of_values * columns, 0),
        "in_proj_a.weight" | "in_proj_b.weight" => (columns, 0),
        "A_log" | "dt_bias" => (1, 0),
        "out_proj.weight" => (of_values, 0),
        _ => return numbers.to_vec(),
    };
    let turned = |heads: &[f32]| -> Vec<f32> {
        let heads: Vec<&[f32]> = heads.chunks(head).collect();
        let places = (0..of_key).flat_map(|i| (0..keys).map(move |key| key * of_key + i));
        places.flat_map(|place| heads[place]).copied().collect()
    };
    let (before, heads) = numbers.split_at(first);
    let heads = heads.chunks(head * keys * of_key).flat_map(turned);
    before.iter().copied().chain(heads).collect()
}

/// The matrix of keys and values of latent attention, as one of keys, turned, and one of values.
fn keys_and_values(
    name: &str,
    architecture: &str,
    numbers: &[f32],
    config: &Value,
) -> [(String, Numbers); 2] {
    let size = |field: &str| config[field].as_u64().unwrap() as usize;
    let [heads, plain, value_dim, rank] = [
        "num_attention_heads",
        "qk_nope_head_dim",
        "v_head_dim",
        "kv_lora_rank",
    ]
    .map(size);
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for head in numbers.chunks((plain + value_dim) * rank) {
        let (of_keys, of_values) = head.split_at(plain * rank);
        let places = (0..rank).flat_map(|i| (0..plain).map(move |row| row * rank + i));
        keys.extend(places.map(|place| of_keys[place]));
        values.extend(of_values);
    }
    let named = |part: &str| in_file(&name.replace("kv_b_proj", part), architecture);
    [
        (named("k_b_proj"), ([plain, rank, heads].map(|size| size as u64).to_vec(), keys)),
        (
            named("v_b_proj"),
            ([rank, value_dim, heads].map(|size| size as u64).to_vec(), values),
        ),
    ]
}

/// The experts of a layer of gpt-oss, `[experts, in, out]` in a checkpoint, where gate and up take turns, and
/// `[experts, out, in]` in a file; or their biases. `shape` is as in a file.
fn experts_of_gpt_oss(name: &str, shape: &[u64], numbers: &[f32]) -> Vec<(String, Numbers)> {
    let layer = name.split('.').nth(2).unwrap();
    let (out, rows) = (
        shape[0] as usize,
        if shape.len() == 3 {
            shape[1] as usize
        } else {
            1
        },
    );
    let (kind, is_bias) = (if rows == 1 { "bias" } else { "weight" }, rows == 1);
    let parts: &[(&str, usize, usize)] = match name.contains("gate_up") {
        true => &[("gate", 0, 2), ("up", 1, 2)],
        false => &[("down", 0, 1)],
    };
    let part = |&(part, first, step): &(&str, usize, usize)| {
        let of_expert = |matrix: &[f32]| -> Vec<f32> {
            let columns = (first..out).step_by(step);
            columns
                .flat_map(|column| (0..rows).map(move |row| row * out + column))
                .map(|at| matrix[at])
                .collect()
        };
        let all = numbers.chunks(rows * out).flat_map(of_expert).collect();
        let (count, out) = (*shape.last().unwrap(), (out / step) as u64);
        let shape = if is_bias {
            vec![out, count]
        } else {
            vec![rows as u64, out, count]
        };
        (format!("blk.{layer}.ffn_{part}_exps.{kind}"), (shape, all))
    };
    parts.iter().map(part).collect()
}

/// The name of a tensor of a checkpoint in a file. `names.json` has those that the package `gguf` gives
/// them.
fn in_file(name: &str, architecture: &str) -> String {
    let names = read_json(&fixture("gguf/names.json"));
    let (stem, kind) = match name.rsplit_once('.').unwrap() {
        (stem, kind @ ("weight" | "bias")) => (stem, kind),
        (_, "sinks") => (name, "weight"),
        (_, "A_log") => (name, ""),
        (_, "dt_bias" | "e_score_correction_bias" | "expert_bias") => (name, "bias"),
        // As the converter for Gemma 4 names them.
        (stem, "scale") => (&*format!("{stem}.proj"), "scale"),
        (stem, "per_expert_scale") => (
            &*format!("{}.experts.down_proj", stem.strip_suffix(".router").unwrap()),
            "scale",
        ),
        _ => (name, "weight"),
    };
    let mut parts: Vec<&str> = stem.split('.').collect();
    let is_number = |part: &&str| part.parse::<usize>().is_ok();
    let layer = parts.iter().copied().find(is_number).unwrap_or_default();
    if let Some(experts) = parts.iter().position(|part| *part == "experts")
        && is_number(&parts[experts + 1])
    {
        parts.remove(experts + 1);
    }
    let first = parts.iter().map(|part| if is_number(part) { "0" } else { part });
    let first = first.collect::<Vec<_>>().join(".");
    let found = names[architecture][&first].as_str().unwrap_or_else(|| panic!("{first}"));
    let found = found.replace("blk.0", &format!("blk.{layer}"));
    format!("{found}.{kind}").trim_end_matches('.').to_owned()
}

fn widened(bytes: &[u8], dtype: &str) -> Vec<f32> {
    let halves = bytes.chunks(2).map(|pair| pair.try_into().unwrap());
    match dtype {
        "F32" => bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect(),
        "F16" => halves.map(|pair| f16::from_le_bytes(pair).to_f32()).collect(),
        _ => halves.map(|pair| bf16::from_le_bytes(pair).to_f32()).collect(),
    }
}

/// The rows of heads in the order of files of `llama`: the two of a pair beside each other.
fn interleaved(numbers: &[f32], columns: usize, head_dim: usize) -> Vec<f32> {
    let rows: Vec<&[f32]> = numbers.chunks(columns).collect();
    let row = |i: usize| {
        let (head, in_head) = (i / head_dim * head_dim, i % head_dim);
        rows[head + in_head % 2 * (head_dim / 2) + in_head / 2]
    };
    (0..rows.len()).flat_map(row).copied().collect()
}

fn from_gguf(file: &Gguf, name: &str) -> Model {
    let bytes = file.to_bytes();
    let file = GgufFile::from_bytes(&bytes, name).unwrap();
    let config = ModelConfig::from_gguf(&file).unwrap();
    let weights = Weights::from_gguf(&file, &config, &Device::flex(), DType::F32).unwrap();
    let model = Model::load(config, &weights).unwrap();
    assert!(weights.unused(&model).is_empty(), "{name}: {:?}", weights.unused(&model));
    model
}

fn number(number: u32) -> Meta {
    Meta::U32(number)
}

/// The same weights give the same bits from both formats.
#[test]
fn files_of_these_families_give_the_bits_of_their_folders() {
    let files: [(&str, &str, Metadata<'_>); 17] = [
        (
            "gemma3",
            "gemma3",
            &[
                ("attention.sliding_window", number(9)),
                ("attention.sliding_window_pattern", number(3)),
                ("rope.freq_base", Meta::F32(1e6)),
            ],
        ),
        (
            "gemma3-softcaps",
            "gemma3",
            &[
                ("attention.sliding_window", number(11)),
                ("attention.sliding_window_pattern", number(2)),
                ("rope.freq_base", Meta::F32(1e6)),
                ("attn_logit_softcapping", Meta::F32(2.5)),
                ("final_logit_softcapping", Meta::F32(8.0)),
            ],
        ),
        (
            "lfm2",
            "lfm2",
            &[
                ("attention.head_count_kv", Meta::Integers(vec![0, 2, 0, 2])),
                ("shortconv.l_cache", number(3)),
                ("rope.freq_base", Meta::F32(1e6)),
            ],
        ),
        (
            "lfm2-moe",
            "lfm2moe",
            &[
                ("attention.head_count_kv", Meta::Integers(vec![0, 2, 0, 2])),
                ("shortconv.l_cache", number(3)),
                ("rope.freq_base", Meta::F32(1e6)),
                ("expert_count", number(8)),
                ("expert_used_count", number(3)),
                ("expert_feed_forward_length", number(40)),
                ("leading_dense_block_count", number(1)),
                ("expert_gating_func", number(2)),
                ("expert_weights_scale", Meta::F32(1.5)),
            ],
        ),
        (
            "qwen35",
            "qwen35",
            &[
                ("ssm.conv_kernel", number(4)),
                ("ssm.state_size", number(16)),
                ("ssm.group_count", number(2)),
                ("ssm.time_step_rank", number(4)),
                ("ssm.inner_size", number(64)),
                ("full_attention_interval", number(4)),
                ("rope.dimension_count", number(8)),
            ],
        ),
        (
            "qwen35-moe",
            "qwen35moe",
            &[
                ("ssm.conv_kernel", number(4)),
                ("ssm.state_size", number(16)),
                ("ssm.group_count", number(2)),
                ("ssm.time_step_rank", number(4)),
                ("ssm.inner_size", number(64)),
                ("rope.dimension_count", number(8)),
                ("expert_count", number(8)),
                ("expert_used_count", number(3)),
                ("expert_feed_forward_length", number(40)),
                ("expert_shared_feed_forward_length", number(48)),
            ],
        ),
        (
            "phi3",
            "phi3",
            &[
                ("rope.dimension_count", number(12)),
                ("rope.scaling.original_context_length", number(256)),
                ("attention.sliding_window", number(0)),
            ],
        ),
        (
            "qwen3-moe",
            "qwen3moe",
            &[
                ("expert_count", number(8)),
                ("expert_used_count", number(2)),
                ("expert_feed_forward_length", number(48)),
            ],
        ),
        (
            "mixtral",
            "llama",
            &[
                ("expert_count", number(4)),
                ("expert_used_count", number(2)),
                ("rope.dimension_count", number(12)),
                ("rope.freq_base", Meta::F32(1e6)),
                ("attention.sliding_window", number(10)),
            ],
        ),
        (
            "mistral-window",
            "llama",
            &[
                ("rope.dimension_count", number(16)),
                ("attention.sliding_window", number(8)),
            ],
        ),
        (
            "smollm3",
            "smollm3",
            &[
                ("rope.dimension_count", number(16)),
                ("rope.freq_base", Meta::F32(2e6)),
            ],
        ),
        (
            "llama-yarn",
            "llama",
            &[
                ("rope.dimension_count", number(16)),
                ("rope.scaling.type", Meta::Text("yarn".to_owned())),
                ("rope.scaling.factor", Meta::F32(4.0)),
                ("rope.scaling.original_context_length", number(32)),
                ("rope.scaling.yarn_beta_fast", Meta::F32(8.0)),
                ("rope.scaling.yarn_beta_slow", Meta::F32(2.0)),
            ],
        ),
        ("llama-dynamic", "llama", &[("rope.dimension_count", number(8))]),
        (
            "olmo3",
            "olmo2",
            &[
                ("attention.sliding_window", number(8)),
                // A flag for each layer.
                ("attention.sliding_window_pattern", Meta::flags(&[true, true, true, false])),
                ("rope.freq_base", Meta::F32(5e5)),
            ],
        ),
        (
            "granite",
            "granite",
            &[
                ("rope.dimension_count", number(16)),
                ("embedding_scale", Meta::F32(6.0)),
                ("attention.scale", Meta::F32(0.1)),
                ("residual_scale", Meta::F32(0.4)),
                ("logit_scale", Meta::F32(4.0)),
            ],
        ),
        (
            "ministral3",
            "mistral3",
            &[
                ("rope.dimension_count", number(16)),
                ("rope.scaling.type", Meta::Text("yarn".to_owned())),
                ("rope.scaling.factor", Meta::F32(4.0)),
                ("rope.scaling.original_context_length", number(16)),
                ("rope.scaling.yarn_log_multiplier", Meta::F32(1.0)),
                ("attention.temperature_scale", Meta::F32(0.1)),
            ],
        ),
        (
            "gpt-oss",
            "gpt-oss",
            &[
                ("attention.sliding_window", number(8)),
                ("expert_count", number(6)),
                ("expert_used_count", number(2)),
                ("expert_feed_forward_length", number(48)),
                ("rope.freq_base", Meta::F32(150_000.0)),
                ("rope.scaling.type", Meta::Text("yarn".to_owned())),
                ("rope.scaling.factor", Meta::F32(4.0)),
                ("rope.scaling.original_context_length", number(64)),
            ],
        ),
    ];
    for (name, architecture, metadata) in files {
        let model = from_gguf(&in_gguf(name, architecture, metadata), name);
        assert_eq!(logits(&model), logits(&load(name, &device()).model), "{name}");
    }
}

/// Files tell of keys and values as attention would have them that reads latent vectors: in one head.
#[test]
fn a_deepseek_gives_the_bits_of_its_folder() {
    let common = |sizes: [u32; 2], experts: u32| {
        vec![
            ("attention.head_count_kv", number(1)),
            ("attention.kv_lora_rank", number(24)),
            ("attention.key_length", number(32)),
            ("attention.value_length", number(24)),
            ("attention.key_length_mla", number(sizes[0])),
            ("attention.value_length_mla", number(sizes[1])),
            ("rope.dimension_count", number(8)),
            ("leading_dense_block_count", number(1)),
            ("expert_count", number(experts)),
            ("expert_feed_forward_length", number(40)),
            ("expert_shared_count", number(1)),
        ]
    };
    let v2 = [
        ("expert_used_count", number(2)),
        ("expert_group_count", number(1)),
    ];
    let v3 = [
        ("attention.q_lora_rank", number(32)),
        ("expert_used_count", number(3)),
        ("expert_group_count", number(4)),
        ("expert_group_used_count", number(2)),
        ("expert_gating_func", number(2)),
        ("expert_weights_norm", Meta::Bool(true)),
        ("expert_weights_scale", Meta::F32(2.5)),
    ];
    let glm = [
        ("attention.q_lora_rank", number(32)),
        ("expert_used_count", number(2)),
        ("expert_weights_norm", Meta::Bool(true)),
        ("expert_weights_scale", Meta::F32(1.8)),
    ];
    for (name, metadata) in [
        ("deepseek-v2", [common([24, 16], 6), v2.to_vec()].concat()),
        ("deepseek-v3", [common([24, 16], 8), v3.to_vec()].concat()),
        ("glm4-moe-lite", [common([32, 32], 8), glm.to_vec()].concat()),
    ] {
        let file = in_gguf(name, "deepseek2", &metadata);
        let expected = logits(&load(name, &device()).model);
        assert_eq!(logits(&from_gguf(&file, name)), expected, "{name}");

        // Other devices than the CPU take keys and values as one matrix.
        let config = read_json(&fixture(&format!("models/{name}/config.json")));
        let [plain, value_dim] = ["qk_nope_head_dim", "v_head_dim"]
            .map(|field| config[field].as_u64().unwrap() as usize);
        let matrix = |weights: &Weights<'_>| {
            let role = Role::KeysAndValues { heads: 4, plain };
            let tensor = "model.layers.1.self_attn.kv_b_proj.weight";
            match weights.matrix(tensor, [4 * (plain + value_dim), 24], role).unwrap() {
                Weight::Dense(matrix) => matrix.val().into_data(),
                #[allow(unreachable_patterns)]
                _ => unreachable!("the CPU has tensors"),
            }
        };
        let bytes = file.to_bytes();
        let header = GgufFile::from_bytes(&bytes, name).unwrap();
        let own = ModelConfig::from_gguf(&header).unwrap();
        let from_file = Weights::from_gguf(&header, &own, &Device::flex(), DType::F32).unwrap();
        let path = fixture(&format!("models/{name}/model.safetensors"));
        let bytes = std::fs::read(path).unwrap();
        let folder = Weights::from_safetensors(&bytes, name, &Device::flex(), DType::F32).unwrap();
        assert_eq!(matrix(&from_file), matrix(&folder), "{name}");

        // A layer behind the others predicts several tokens at once.
        let mut longer = file.clone();
        longer.set("deepseek2.block_count", number(4));
        longer.set("deepseek2.nextn_predict_layers", number(1));
        add(&mut longer, "blk.3.nextn.eh_proj.weight".to_owned(), vec![1], &[0.0]);
        assert_eq!(logits(&from_gguf(&longer, name)), expected, "{name}");

        // What cannot be is refused, and read no further.
        for (key, value) in [
            ("attention.kv_lora_rank", number(0)),
            ("attention.value_length_mla", number(33)),
            ("rope.dimension_count", number(7)),
            ("rope.dimension_count", number(32)),
            ("expert_gating_func", number(3)),
            ("expert_group_count", number(5)),
            ("nextn_predict_layers", number(3)),
            ("block_count", number(u32::MAX >> 1)),
        ] {
            let mut file = file.clone();
            file.set(&format!("deepseek2.{key}"), value);
            let bytes = file.to_bytes();
            let file = GgufFile::from_bytes(&bytes, name).unwrap();
            assert!(ModelConfig::from_gguf(&file).is_err(), "{name}: {key}");
        }
    }
}

/// Older files have keys and values of heads as one tensor, and the sizes of heads under the usual names. They have a
/// tenth of `mscale_all_dim`, which sharpens scores and not what is rotated.
#[test]
fn an_older_file_of_deepseek_has_one_tensor_and_may_have_yarn() {
    let name = "deepseek-v2";
    let scaling = serde_json::json!({
        "rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "mscale": 0.5,
        "mscale_all_dim": 0.5, "original_max_position_embeddings": 64,
    });
    let folder = changed(name, |config| config["rope_parameters"] = scaling.clone(), |_| {});
    let mut file = in_gguf(
        name,
        "deepseek2",
        &[
            ("attention.kv_lora_rank", number(24)),
            ("attention.key_length", number(24)),
            ("attention.value_length", number(16)),
            ("rope.dimension_count", number(8)),
            ("rope.scaling.type", Meta::Text("yarn".to_owned())),
            ("rope.scaling.factor", Meta::F32(4.0)),
            ("rope.scaling.original_context_length", number(64)),
            ("rope.scaling.yarn_log_multiplier", Meta::F32(0.05)),
            ("leading_dense_block_count", number(1)),
            ("expert_count", number(6)),
            ("expert_used_count", number(2)),
            ("expert_feed_forward_length", number(40)),
            ("expert_shared_count", number(1)),
        ],
    );
    file.tensors.retain(|tensor| !tensor.name.contains("_b.weight"));
    let path = fixture(&format!("models/{name}/model.safetensors"));
    let checkpoint = Checkpoint::parse(&std::fs::read(path).unwrap());
    for layer in 0..3 {
        let tensor = format!("model.layers.{layer}.self_attn.kv_b_proj.weight");
        let numbers = widened(checkpoint.bytes(&tensor), "F32");
        add(&mut file, format!("blk.{layer}.attn_kv_b.weight"), vec![24, 128], &numbers);
    }
    assert_eq!(logits(&from_gguf(&file, name)), logits(&folder));
}

/// Layers with a window have smaller heads, of which keys with `_swa` say, and the others turn a part of their pairs: the
/// others have a factor that stops them.
#[test]
fn a_gemma_4_of_either_kind_gives_the_bits_of_its_folder() {
    let common = [
        ("attention.key_length", number(32)),
        ("attention.value_length", number(32)),
        ("attention.key_length_swa", number(16)),
        ("attention.value_length_swa", number(16)),
        ("rope.dimension_count", number(32)),
        ("rope.dimension_count_swa", number(16)),
        ("rope.freq_base", Meta::F32(1e6)),
    ];
    let dense = [
        ("attention.sliding_window", number(9)),
        (
            "attention.sliding_window_pattern",
            Meta::flags(&[true, true, false, true, true, false]),
        ),
        ("attention.shared_kv_layers", number(3)),
        ("embedding_length_per_layer_input", number(16)),
        ("final_logit_softcapping", Meta::F32(30.0)),
    ];
    let experts = [
        ("attention.sliding_window", number(8)),
        ("attention.sliding_window_pattern", Meta::flags(&[true, false, true, false])),
        ("attention.shared_kv_layers", number(0)),
        ("attention.head_count_kv", Meta::Integers(vec![2, 1, 2, 1])),
        ("embedding_length_per_layer_input", number(0)),
        ("expert_count", number(6)),
        ("expert_used_count", number(2)),
        ("expert_feed_forward_length", number(40)),
    ];
    for (name, metadata) in [("gemma4", &dense[..]), ("gemma4-moe", &experts)] {
        let mut file = in_gguf(name, "gemma4", &[&common, metadata].concat());
        let factors: Vec<f32> = (0..16).map(|pair| if pair < 4 { 1.0 } else { 1e30 }).collect();
        add(&mut file, "rope_freqs.weight".to_owned(), vec![16], &factors);
        let model = from_gguf(&file, name);
        assert_eq!(logits(&model), logits(&load(name, &device()).model), "{name}");

        // What cannot be is refused, and read no further.
        for (key, value) in [
            ("attention.key_length", number(33)),
            ("attention.head_count_kv", number(3)),
            ("attention.shared_kv_layers", number(9)),
            ("attention.sliding_window_pattern", Meta::flags(&[true])),
            ("embedding_length_per_layer_input", number(u32::MAX)),
            ("block_count", number(u32::MAX >> 1)),
        ] {
            let mut file = in_gguf(name, "gemma4", &[&common, metadata].concat());
            file.set(&format!("gemma4.{key}"), value);
            let bytes = file.to_bytes();
            let file = GgufFile::from_bytes(&bytes, name).unwrap();
            assert!(ModelConfig::from_gguf(&file).is_err(), "{name}: {key}");
        }
    }
}

/// The converter writes no window for a Mistral, nor for a Gemma 3 all of whose layers read the whole
/// text, and those rotate at one base.
#[test]
fn files_without_a_window_are_of_models_without_one() {
    let full = changed("mistral-window", |config| config["sliding_window"] = Value::Null, |_| {});
    let model = from_gguf(&in_gguf("mistral-window", "llama", &[]), "mistral");
    assert_eq!(logits(&model), logits(&full));

    let types = vec!["full_attention"; 4];
    let full = changed("gemma3", |config| config["layer_types"] = types.into(), |_| {});
    let base = ("rope.freq_base", Meta::F32(1e6));
    let model = from_gguf(&in_gguf("gemma3", "gemma3", &[base]), "gemma3");
    assert_eq!(logits(&model), logits(&full));
}

/// Files hold the factors as tensors, and how much they sharpen attention as a number of 32 bits.
#[test]
fn longrope_is_read_from_files_too() {
    let name = "phi3-longrope";
    let mut file = in_gguf(
        name,
        "phi3",
        &[
            ("rope.dimension_count", number(6)),
            ("rope.scaling.original_context_length", number(64)),
            ("rope.scaling.attn_factor", Meta::F32((4.0_f32 / 3.0).sqrt())),
            ("attention.sliding_window", number(0)),
        ],
    );
    let rope = &read_json(&fixture(&format!("models/{name}/config.json")))["rope_parameters"];
    for (tensor, field) in [
        ("rope_factors_short", "short_factor"),
        ("rope_factors_long", "long_factor"),
    ] {
        let factors: Vec<f32> = serde_json::from_value(rope[field].clone()).unwrap();
        add(&mut file, format!("{tensor}.weight"), vec![3], &factors);
    }
    let model = from_gguf(&file, name);
    assert_eq!(model.config().context_length, 64);
    for (found, expected) in logits(&model).iter().zip(logits(&load(name, &device()).model)) {
        assert_close(found, &expected, 1e-5, name);
    }
}

/// `attention_factor` of `config.json` is `yarn_attn_factor` of a file.
#[test]
fn yarn_may_sharpen_attention_by_another_factor() {
    let name = "llama-yarn";
    let folder = changed(
        name,
        |config| config["rope_parameters"]["attention_factor"] = 1.5.into(),
        |_| {},
    );
    let file = in_gguf(
        name,
        "llama",
        &[
            ("rope.scaling.type", Meta::Text("yarn".to_owned())),
            ("rope.scaling.factor", Meta::F32(4.0)),
            ("rope.scaling.original_context_length", number(32)),
            ("rope.scaling.yarn_attn_factor", Meta::F32(1.5)),
            ("rope.scaling.yarn_beta_fast", Meta::F32(8.0)),
            ("rope.scaling.yarn_beta_slow", Meta::F32(2.0)),
        ],
    );
    assert_eq!(logits(&from_gguf(&file, name)), logits(&folder));
}

fn linear(factor: f64, attention_factor: f64) -> RopeConfig {
    let scaling = RopeScaling::Linear { factor };
    RopeConfig { scaling, attention_factor, ..RopeConfig::new(10_000.0) }
}

/// As llama.cpp reads these keys: a factor without a type is that of `linear`, which also has an older name,
/// and attention is sharpened whatever the type.
#[test]
fn rope_is_scaled_as_in_llama_cpp() {
    let plain = RopeConfig::new(10_000.0);
    let factor = |factor| ("rope.scaling.factor", Meta::F32(factor));
    let older = |factor| ("rope.scale_linear", Meta::F32(factor));
    let kind = |kind: &str| ("rope.scaling.type", Meta::Text(kind.to_owned()));
    let sharper = ("rope.scaling.attn_factor", Meta::F32(1.5));
    for (metadata, expected, context) in [
        (vec![factor(4.0)], linear(4.0, 1.0), 256 * 4),
        (vec![older(4.0)], linear(4.0, 1.0), 256 * 4),
        (vec![factor(2.0), older(4.0)], linear(2.0, 1.0), 256 * 2),
        (vec![factor(2.0), kind("linear")], linear(2.0, 1.0), 256 * 2),
        (vec![factor(2.0), sharper.clone()], linear(2.0, 1.5), 256 * 2),
        (vec![factor(2.0), kind("none")], plain.clone(), 256),
        (vec![factor(0.0)], plain.clone(), 256),
        (vec![factor(1.0)], plain.clone(), 256),
        (vec![kind("linear")], plain.clone(), 256),
        (vec![sharper], RopeConfig { attention_factor: 1.5, ..plain.clone() }, 256),
    ] {
        let names: Vec<&str> = metadata.iter().map(|(name, _)| *name).collect();
        let bytes = in_gguf("llama-gqa", "llama", &metadata).to_bytes();
        let file = GgufFile::from_bytes(&bytes, "llama").unwrap();
        let config = ModelConfig::from_gguf(&file).unwrap();
        let Family::Llama(llama) = &config.family else {
            panic!("{:?}", config.family)
        };
        assert_eq!(llama.layers[0].rope.as_ref(), Some(&expected), "{names:?}");
        assert_eq!(config.context_length, context, "{names:?}");
    }
}

/// Many files give the context as it was before scaling.
#[test]
fn yarn_lengthens_the_context_of_a_file() {
    let context = |original: Option<u32>| {
        let mut metadata = vec![
            ("rope.scaling.type", Meta::Text("yarn".to_owned())),
            ("rope.scaling.factor", Meta::F32(4.0)),
        ];
        metadata.extend(original.map(|n| ("rope.scaling.original_context_length", number(n))));
        let bytes = in_gguf("llama-gqa", "llama", &metadata).to_bytes();
        ModelConfig::from_gguf(&GgufFile::from_bytes(&bytes, "llama").unwrap())
            .unwrap()
            .context_length
    };
    assert_eq!([context(None), context(Some(256)), context(Some(32))], [1024, 1024, 256]);
}
