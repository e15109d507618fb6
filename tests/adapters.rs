//! Adapters: the numbers that peft computes, for each sequence its own, whatever else runs.

#![cfg(feature = "flex")]

mod common;

use std::iter::zip;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::go_on;
use common::texts::{alone, assert_same, finish, greedy};
use common::{
    Checkpoint, assert_relatively_close, bundled, copy_of, copy_with_config, device,
    edit_checkpoint, edit_json, ember, expected_in, fixture, load,
};
use serde_json::{Value, json};
use slowburn::adapter::Adapter;
use slowburn::checkpoint;
use slowburn::device::Precision;
use slowburn::engine::EngineConfig;
use slowburn::generate::{self, Batch, Generation, Loop, Options};
use slowburn::kernels::Cpu;
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;
use slowburn::speculation::{DraftSource, Speculation};
use slowburn::{Error, LoadError, RequestError};

/// Each with the model that it is for.
const ADAPTERS: [(&str, &str); 5] = [
    ("plain", "llama-gqa"),
    ("rslora", "llama-gqa"),
    ("fused", "phi3"),
    ("gpt2", "gpt2"),
    ("ember", "ember"),
];

fn folder(name: &str) -> PathBuf {
    fixture(&format!("adapters/{name}"))
}

fn read(pretrained: &Pretrained, name: &str) -> Arc<Adapter> {
    pretrained.read_adapter(&folder(name)).unwrap()
}

fn with(adapter: Option<&Arc<Adapter>>, options: Options) -> Options {
    Options { adapter: adapter.cloned(), hash_logits: true, ..options }
}

#[test]
fn logits_and_greedy_tokens_are_those_of_peft() {
    for (name, base) in ADAPTERS {
        let pretrained = match base {
            "ember" => bundled(&device()),
            base => load(base, &device()),
        };
        let (model, adapter) = (&pretrained.model, read(&pretrained, name));
        let expected = expected_in(&folder(name));
        for (i, prompt) in expected.prompts.iter().enumerate() {
            let input = Input::whole(prompt).with_adapter(Some(&adapter));
            let rows = model.forward(&mut [input.with_logits(Logits::All)]).unwrap();
            for (row, reference) in zip(&rows, &expected.logits[i]) {
                assert_relatively_close(row, reference, 1e-5, name);
            }
            let plain = model.forward(&mut [Input::whole(prompt)]).unwrap().remove(0);
            assert_ne!(plain, rows[rows.len() - 1], "{name} changes something");
            let options = with(Some(&adapter), greedy(expected.greedy[i].len()));
            for generate in [generate::naive as Loop, generate::cached] {
                let found = generate(model, prompt, &options, &mut go_on).unwrap();
                assert_eq!(found.ids, expected.greedy[i], "{name}, prompt {i}");
            }
        }
    }
}

/// Prompts, two of which begin with the same two blocks, each with every adapter and with none.
fn requests(adapters: &[Option<&Arc<Adapter>>]) -> Vec<(Vec<u32>, Options)> {
    let ids = |n: u32, salt: u32| (0..n).map(move |i| 2 + (i * i * 31 + i * 7 + salt * 13) % 300);
    let long: Vec<u32> = ids(70, 1).collect();
    let prompts = [
        ids(3, 0).collect(),
        long.clone(),
        long[..66].to_vec(),
        ids(20, 2).collect(),
    ];
    let each = |adapter: &Option<&Arc<Adapter>>| {
        let request = |prompt: &Vec<u32>| (prompt.clone(), with(*adapter, greedy(16)));
        prompts.iter().map(request).collect::<Vec<_>>()
    };
    adapters.iter().flat_map(each).collect()
}

fn together(
    model: &Model,
    config: EngineConfig,
    speculation: Option<Speculation>,
    requests: &[(Vec<u32>, Options)],
) -> Vec<Generation> {
    let mut batch = Batch::with_config(model, config);
    batch.set_speculation(speculation);
    for (prompt, options) in requests {
        batch.join(prompt, options).unwrap();
    }
    finish(&mut batch).into_values().collect()
}

/// Chunked, cached, preempted, with draft tokens, on several threads, and beside rows of other adapters.
#[test]
fn nothing_else_in_a_batch_changes_a_bit() {
    let (chunked, whole) = (
        EngineConfig { token_budget: 20, max_running: 5, ..EngineConfig::default() },
        EngineConfig::default(),
    );
    let (mut preemptions, mut cached) = (0, 0);
    for threads in [1, 3] {
        let cpu = Cpu::new(Cpu::current().simd(), threads).unwrap();
        let mut pretrained = cpu.enter(|| load("llama-gqa", &device()));
        let adapters = [read(&pretrained, "plain"), read(&pretrained, "rslora")];
        let requests = requests(&[None, Some(&adapters[0]), Some(&adapters[1])]);
        let expected: Vec<Generation> = requests
            .iter()
            .map(|(prompt, options)| alone(&pretrained.model, prompt, options))
            .collect();
        let bytes = pretrained.model.kv_pool().block_bytes();
        for (blocks, drafts) in [(1000, false), (7, false), (1000, true), (7, true)] {
            pretrained.model = pretrained.model.with_kv_cache_bytes(blocks * bytes);
            for config in [
                chunked,
                whole,
                EngineConfig { prefix_cache: false, ..chunked },
            ] {
                let speculation = drafts.then(|| Speculation::new(DraftSource::Lookup, 3));
                let found = together(&pretrained.model, config, speculation, &requests);
                for (i, (found, expected)) in zip(&found, &expected).enumerate() {
                    let what = format!("{threads} threads, {blocks} blocks, {config:?}, {i}");
                    assert_same(found, expected, &what);
                    preemptions += found.preemptions;
                    cached += found.cached_tokens;
                }
            }
        }
    }
    assert!(preemptions > 0 && cached > 0, "{preemptions}, {cached}");
}

/// The matrix that makes keys and values of latents is taken apart by heads, and so are its changes.
#[test]
fn keys_and_values_of_latents_are_adapted() {
    const RANK: usize = 2;
    let name = "deepseek-v2";
    let adapter = changed("plain", |config| config["r"] = json!(RANK));
    edit_checkpoint(&adapter.path().join("adapter_model.safetensors"), |checkpoint| {
        let mut made = Checkpoint { header: serde_json::Map::new(), data: Vec::new() };
        for (layer, (part, shape)) in (0..3)
            .flat_map(|layer| [("A", [RANK, 24]), ("B", [4 * (16 + 16), RANK])].map(|x| (layer, x)))
        {
            let number = |i: usize| ((i * i * 31 + i * 7 + layer) % 19) as f32 / 19.0 - 0.5;
            let bytes = (0..shape[0] * shape[1]).flat_map(|i| number(i).to_le_bytes());
            let bytes: Vec<u8> = bytes.collect();
            let module = format!("base_model.model.model.layers.{layer}.self_attn.kv_b_proj");
            made.add(&format!("{module}.lora_{part}.weight"), "F32", &shape, &bytes);
        }
        *checkpoint = made;
    });
    let pretrained = load(name, &device());
    let read = pretrained.read_adapter(adapter.path()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let model = fixture(&format!("models/{name}"));
    checkpoint::merge(&model, adapter.path(), out.path()).unwrap();
    let merged = Pretrained::load(out.path(), &device(), Precision::F32).unwrap();
    let prompt: Vec<u32> = (2..25).collect();
    let all = |model: &Model, adapter| {
        let input = Input::whole(&prompt).with_adapter(adapter).with_logits(Logits::All);
        model.forward(&mut [input]).unwrap()
    };
    let found = all(&pretrained.model, Some(&read));
    for (row, reference) in zip(&found, &all(&merged.model, None)) {
        assert_relatively_close(row, reference, 1e-5, name);
    }
    assert_ne!(found, all(&pretrained.model, None));
}

/// With another adapter, equal tokens have other keys and values.
#[test]
fn blocks_are_shared_between_texts_of_one_adapter_alone() {
    let pretrained = load("llama-gqa", &device());
    let adapters = [read(&pretrained, "plain"), read(&pretrained, "rslora")];
    let again = read(&pretrained, "plain");
    let mut batch = Batch::new(&pretrained.model);
    let prompt: Vec<u32> = (2..72).collect();
    let mut cached = |adapter: Option<&Arc<Adapter>>| {
        batch.join(&prompt, &with(adapter, greedy(3))).unwrap();
        let (_, found) = finish(&mut batch).pop_first().unwrap();
        assert_same(&found, &alone(&pretrained.model, &prompt, &with(adapter, greedy(3))), "");
        found.cached_tokens
    };
    for adapter in [None, Some(&adapters[0]), Some(&adapters[1]), Some(&again)] {
        assert_eq!(cached(adapter), 0);
    }
    for adapter in [Some(&adapters[0]), None, Some(&again), Some(&adapters[1])] {
        assert_eq!(cached(adapter), 64);
    }
}

/// A copy of an adapter whose configuration says something else.
fn changed(name: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = copy_of(&folder(name));
    edit_json(&copy.path().join("adapter_config.json"), change);
    copy
}

#[test]
fn what_cannot_be_used_is_refused_and_says_why() {
    let pretrained = load("llama-gqa", &device());
    let refused = |folder: &Path| match pretrained.read_adapter(folder).unwrap_err() {
        Error::Load(error) => error.to_string(),
        error => panic!("{error}"),
    };
    for (field, value, named) in [
        ("peft_type", json!("LOHA"), "`peft_type` is LOHA"),
        ("use_dora", json!(true), "`use_dora` is true"),
        ("bias", json!("all"), "`bias` is all"),
        ("modules_to_save", json!(["lm_head"]), "`modules_to_save`"),
        (
            "init_lora_weights",
            json!("pissa_niter_4"),
            "`init_lora_weights` is pissa_niter_4",
        ),
        ("rank_pattern", json!({"down_proj": 0}), "`r` is 0"),
        ("rank_pattern", json!({"down_.*": 4}), "`rank_pattern` is `down_.*`"),
        (
            "alpha_pattern",
            json!({"q_proj": 1, "self_attn.q_proj": 2}),
            "one key for each module",
        ),
        ("r", json!("many"), "is not the JSON that was expected"),
    ] {
        let copy = changed("rslora", |config| config[field] = value);
        let message = refused(copy.path());
        assert!(message.contains(named), "{field}: {message}");
    }
    assert!(refused(&folder("gpt2")).contains("no linear layer of this model"));
    assert!(refused(&folder("fused")).contains("has shape [4, 136]"));
    let wrong_rank = changed("plain", |config| config["r"] = json!(5));
    assert!(refused(wrong_rank.path()).contains("has shape"));
    for missing in ["adapter_config.json", "adapter_model.safetensors"] {
        let copy = copy_of(&folder("plain"));
        std::fs::remove_file(copy.path().join(missing)).unwrap();
        let error = pretrained.read_adapter(copy.path()).unwrap_err();
        assert!(matches!(error, Error::Load(LoadError::NotAnAdapter { .. })), "{error}");
        assert!(error.to_string().contains(missing), "{error}");
    }
    let cut = copy_of(&folder("plain"));
    let file = cut.path().join("adapter_model.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    assert!(refused(cut.path()).contains("may be truncated"));
}

#[test]
fn an_adapter_of_another_model_is_refused_before_anything_is_computed() {
    let [one, other] = [0, 1].map(|_| load("llama-gqa", &device()));
    let adapter = read(&one, "plain");
    let options = with(Some(&adapter), greedy(2));
    let is_foreign = |error: Error| matches!(error, Error::Request(RequestError::AdapterForeign));
    assert!(is_foreign(Batch::new(&other.model).join(&[5], &options).unwrap_err()));
    assert!(is_foreign(
        generate::cached(&other.model, &[5], &options, &mut go_on).unwrap_err()
    ));
    assert!(is_foreign(
        generate::naive(&other.model, &[5], &options, &mut go_on).unwrap_err()
    ));
}

/// A pass with rows of all kinds: each gets what it gets alone.
#[test]
fn rows_of_different_adapters_share_a_pass() {
    let pretrained = load("llama-gqa", &device());
    let adapters = [read(&pretrained, "plain"), read(&pretrained, "rslora")];
    let of = |i: usize| [None, Some(&adapters[0]), Some(&adapters[1])][i % 3];
    let prompts: Vec<Vec<u32>> = (1..8).map(|n| (n..2 * n + 1).collect()).collect();
    let input = |(i, prompt)| Input::whole(prompt).with_adapter(of(i));
    let mut inputs: Vec<Input<'_>> =
        prompts.iter().map(Vec::as_slice).enumerate().map(input).collect();
    let rows = pretrained.model.forward(&mut inputs).unwrap();
    for (i, (prompt, row)) in zip(&prompts, &rows).enumerate() {
        let one = Input::whole(prompt).with_adapter(of(i));
        assert_eq!(pretrained.model.forward(&mut [one]).unwrap()[0], *row, "{i}");
    }
}

/// What adapters compute beside a model, a merged one computes itself.
#[test]
fn a_merged_model_has_the_logits_of_the_adapted_one() {
    for (name, base) in ADAPTERS {
        let model = match base {
            "ember" => ember(),
            base => fixture(&format!("models/{base}")),
        };
        let out = tempfile::tempdir().unwrap();
        checkpoint::merge(&model, &folder(name), out.path()).unwrap();
        let merged = Pretrained::load(out.path(), &device(), Precision::F32).unwrap();
        let expected = expected_in(&folder(name));
        // A merged weight is rounded to the type of the file.
        let tolerance = match Pretrained::precision_of(&model).unwrap() {
            Precision::F32 => 1e-5,
            Precision::F16 => 8e-3,
            Precision::Bf16 => 2e-2,
        };
        for (i, prompt) in expected.prompts.iter().enumerate() {
            let input = Input::whole(prompt).with_logits(Logits::All);
            let rows = merged.model.forward(&mut [input]).unwrap();
            for (row, reference) in zip(&rows, &expected.logits[i]) {
                assert_relatively_close(row, reference, tolerance, name);
            }
        }
        let again = checkpoint::merge(&model, &folder(name), out.path()).unwrap_err();
        assert!(matches!(again, Error::Load(LoadError::Write { .. })), "{again}");
    }
    let out = tempfile::tempdir().unwrap();
    let quantized = copy_with_config(&fixture("models/llama-gqa"), |config| {
        config["quantization_config"] = json!({"quant_method": "gptq"});
    });
    let error = checkpoint::merge(quantized.path(), &folder("plain"), out.path()).unwrap_err();
    assert!(error.to_string().contains("quantization_config"), "{error}");
}
