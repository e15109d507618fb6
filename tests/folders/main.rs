//! Folders of models: what they may say, and those that are damaged in a known way. Each is refused with an
//! error of its own kind, which names the file and the tensor.

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod config;
mod fields;
mod pooling;
mod rope;
mod templates;
mod weights;

use std::path::Path;

use common::{Checkpoint, assert_says, copy_of, device, edit_checkpoint, fixture};
use serde_json::{Value, json};
use slowburn::device::Precision;
use slowburn::pretrained::Pretrained;
use slowburn::{Error, LoadError};

const INDEX: &str = "model.safetensors.index.json";
const SHARD: &str = "model-00003-of-00005.safetensors";
const TENSOR: &str = "model.layers.1.mlp.gate_proj.weight"; // it lies in SHARD

/// Damages a copy of the sharded fixture, and returns the error of loading it.
#[track_caller]
fn refused(damage: impl FnOnce(&Path)) -> Error {
    let folder = copy_of(&fixture("models/qwen3"));
    damage(folder.path());
    let error = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap_err();
    assert_says(&error, &[]);
    error
}

fn edit_json(folder: &Path, file: &str, edit: impl FnOnce(&mut Value)) {
    common::edit_json(&folder.join(file), edit);
}

fn edit_shard(folder: &Path, edit: impl FnOnce(&mut Checkpoint)) {
    edit_checkpoint(&folder.join(SHARD), edit);
}

#[test]
fn json_of_the_wrong_kind() {
    for file in ["config.json", INDEX] {
        for text in [
            &b""[..],
            b"[]",
            b"3",
            b"null",
            b"{}",
            b"{\"weight_map\": [], \"model_type\": {}}",
            b"{\"weight_map\": {\"a\": 3}, \"model_type\": 3}",
            b"\xFF",
        ] {
            let error = refused(|folder| std::fs::write(folder.join(file), text).unwrap());
            assert!(matches!(error, Error::Load(LoadError::Json { .. })), "{file}: {error:?}");
            assert_says(&error, &[file]);
        }
    }
    // Nested deeper than any reader should follow.
    let deep = "[".repeat(100_000);
    for file in ["config.json", INDEX] {
        let error = refused(|folder| std::fs::write(folder.join(file), &deep).unwrap());
        assert!(matches!(error, Error::Load(LoadError::Json { .. })), "{file}: {error:?}");
    }
    for header in ["[]", "{\"a\": 3}", "{\"a\": {\"dtype\": \"F32\"}}", &deep] {
        let error = refused(|folder| {
            let length = (header.len() as u64).to_le_bytes();
            std::fs::write(folder.join(SHARD), [&length, header.as_bytes()].concat()).unwrap();
        });
        assert!(
            matches!(error, Error::Load(LoadError::Safetensors { .. })),
            "{header}: {error:?}"
        );
        assert_says(&error, &[SHARD]);
    }
}

/// What a file says is repeated in an error as a part of one line, however long it is.
#[test]
fn names_and_values_that_are_no_line() {
    let long = format!("a\n\u{1b}[31m\u{202e}{}", "x".repeat(1 << 20));
    let error = refused(|folder| {
        edit_json(folder, INDEX, |index| index["weight_map"][TENSOR] = long.as_str().into());
    });
    assert_says(&error, &[INDEX, TENSOR, "a\\n"]);
    let error = refused(|folder| {
        edit_json(folder, INDEX, |index| index["weight_map"][&long] = SHARD.into());
    });
    assert_says(&error, &[INDEX, "a\\n"]);
    let error = refused(|folder| {
        edit_shard(folder, |shard| shard.header[TENSOR]["dtype"] = long.as_str().into());
    });
    assert_says(&error, &[SHARD, TENSOR]);
    let error = refused(|folder| {
        edit_shard(folder, |shard| shard.header[TENSOR]["shape"] = json!(vec![1; 1 << 20]));
    });
    assert_says(&error, &[SHARD, TENSOR]);
    for field in [
        "model_type",
        "quantization_config",
        "hidden_size",
        "hidden_act",
    ] {
        let error = refused(|folder| {
            edit_json(folder, "config.json", |config| config[field] = json!({long.as_str(): long}));
        });
        assert_says(&error, &["config.json"]);
    }
    let error = refused(|folder| std::fs::write(folder.join("tokenizer.json"), &long).unwrap());
    assert_says(&error, &["tokenizer.json"]);
    let error = refused(|folder| std::fs::remove_file(folder.join("tokenizer.json")).unwrap());
    assert_says(&error, &["tokenizer.json"]);
}

/// Sizes that the weights do not have are found out before anything of that size is made.
#[test]
fn sizes_that_are_out_of_all_proportion() {
    for (field, size) in [
        ("num_hidden_layers", 1_000_000_000u64),
        ("vocab_size", 1_000_000_000),
        ("head_dim", 1_000_000_000),
        ("hidden_size", 1_000_000_000),
        ("intermediate_size", 1_000_000_000),
    ] {
        let error = refused(|folder| {
            edit_json(folder, "config.json", |config| {
                config[field] = size.into();
                config["layer_types"] = Value::Null; // as many entries as layers
            });
        });
        let kind = matches!(
            error,
            Error::Load(LoadError::TensorShape { .. })
                | Error::Load(LoadError::TensorMissing { .. })
                | Error::Load(LoadError::Unsupported { field: "num_hidden_layers", .. })
        );
        assert!(kind, "{field}: {error:?}");
    }
    // RoPE needs no table, so a long context costs nothing until it is used.
    let folder = copy_of(&fixture("models/qwen3"));
    edit_json(folder.path(), "config.json", |config| {
        config["max_position_embeddings"] = 1_000_000_000.into();
    });
    Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
}

/// Tokens that the model does not have, so many that a tokenizer of them would take gigabytes.
#[test]
fn a_tokenizer_of_another_size_is_refused_before_it_is_made() {
    let tokens = |json: &mut Value| {
        let vocab = json["model"]["vocab"].as_object_mut().unwrap();
        vocab.extend((0..1_000_000).map(|i| (format!("more{i}"), (1_000_000 + i).into())));
    };
    let added = |json: &mut Value| {
        let token = |i: usize| {
            json!({"id": 1_000_000 + i, "content": format!("<more{i}>"), "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false, "special": true})
        };
        json["added_tokens"].as_array_mut().unwrap().extend((0..200_000).map(token));
    };
    for edit in [tokens as fn(&mut Value), added] {
        let error = refused(|folder| edit_json(folder, "tokenizer.json", edit));
        assert!(matches!(error, Error::Load(LoadError::TokenizerTooMany { .. })), "{error:?}");
        assert_says(&error, &["tokenizer.json", "vocabulary has 310"]);
    }
}
