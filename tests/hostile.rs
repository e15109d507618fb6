//! Folders that are damaged in a known way: each is refused with an error of its own kind, which
//! names the file and the tensor.

mod common;

use std::path::Path;

use common::{Checkpoint, copy_of, device, fixture, go_on};
use serde_json::{Value, json};
use slowburn::device::Precision;
use slowburn::generate::{Options, cached};
use slowburn::kernels::{Activations, KvFormat, Quantized, Rounding};
use slowburn::pretrained::Pretrained;
use slowburn::storage::{MatrixFormat, Storage};
use slowburn::{DeviceError, Error, LoadError};

const INDEX: &str = "model.safetensors.index.json";
const SHARD: &str = "model-00003-of-00005.safetensors";
const TENSOR: &str = "model.layers.1.mlp.gate_proj.weight"; // it lies in SHARD

/// Damages a copy of the sharded fixture, and returns the error of loading it.
#[track_caller]
fn refused(damage: impl FnOnce(&Path)) -> Error {
    let folder = copy_of(&fixture("models/qwen3"));
    damage(folder.path());
    let error = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap_err();
    let message = error.to_string();
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.len() < 1500, "{} bytes: {message}", message.len());
    error
}

/// The error says all of this.
#[track_caller]
fn assert_says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

fn edit_json(folder: &Path, file: &str, edit: impl FnOnce(&mut Value)) {
    let path = folder.join(file);
    let mut json = common::read_json(&path);
    edit(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
}

fn edit_shard(folder: &Path, edit: impl FnOnce(&mut Checkpoint)) {
    let path = folder.join(SHARD);
    let mut checkpoint = Checkpoint::parse(&std::fs::read(&path).unwrap());
    edit(&mut checkpoint);
    std::fs::write(path, checkpoint.to_bytes()).unwrap();
}

#[test]
fn a_truncated_shard() {
    for cut in [1, 100, 100_000] {
        let error = refused(|folder| {
            let path = folder.join(SHARD);
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() - cut]).unwrap();
        });
        assert!(matches!(error, Error::Load(LoadError::TensorOffsets { .. })), "{error:?}");
        assert_says(&error, &[SHARD, "model.layers.1.", "it may be truncated"]);
    }
    let empty = refused(|folder| std::fs::write(folder.join(SHARD), b"").unwrap());
    assert!(matches!(empty, Error::Load(LoadError::Safetensors { .. })), "{empty:?}");
    assert_says(&empty, &[SHARD, "0 bytes"]);
}

#[test]
fn a_wrong_header_length() {
    for length in [0, 7, 200_000, u64::from(u32::MAX), u64::MAX] {
        let error = refused(|folder| {
            let path = folder.join(SHARD);
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[..8].copy_from_slice(&length.to_le_bytes());
            std::fs::write(path, bytes).unwrap();
        });
        assert!(
            matches!(error, Error::Load(LoadError::Safetensors { .. })),
            "{length}: {error:?}"
        );
        assert_says(&error, &[SHARD]);
    }
}

#[test]
fn offsets_that_overlap_or_lead_out_of_the_file() {
    let end = u64::MAX;
    for (offsets, problem) in [
        (json!([0, 16]), "inside another"),
        (json!([16, 0]), ""),
        (json!([1u64 << 40, 1u64 << 41]), "what lies before it ends"),
        (json!([end - 45_056, end]), ""),
    ] {
        let error = refused(|folder| {
            edit_shard(folder, |shard| shard.header[TENSOR]["data_offsets"] = offsets.clone());
        });
        assert!(
            matches!(error, Error::Load(LoadError::TensorOffsets { .. })),
            "{offsets}: {error:?}"
        );
        assert_says(&error, &[SHARD, "model.layers.1.", problem]);
    }
}

/// Sizes that add up to more than a number can hold must not come out as the right one.
#[test]
fn offsets_whose_sum_overflows() {
    let error = refused(|folder| {
        edit_shard(folder, |shard| {
            let rest = shard.data.len() as u64;
            let part = 1u64 << 60;
            for i in 0..16u64 {
                let start = rest.wrapping_add(i.wrapping_mul(part));
                let end = rest.wrapping_add((i + 1).wrapping_mul(part));
                let entry = json!({"dtype": "U8", "shape": [part], "data_offsets": [start, end]});
                shard.header.insert(format!("z{i:02}"), entry);
            }
        });
    });
    assert!(matches!(error, Error::Load(LoadError::TensorOffsets { .. })), "{error:?}");
}

#[test]
fn bytes_that_belong_to_no_tensor() {
    let error = refused(|folder| edit_shard(folder, |shard| shard.data.extend([0; 5])));
    assert!(matches!(error, Error::Load(LoadError::Safetensors { .. })), "{error:?}");
    assert_says(&error, &[SHARD, "5 bytes"]);
}

#[test]
fn a_wrong_dtype() {
    for dtype in ["I32", "F64", "F8_E4M3", "nonsense\n"] {
        let error = refused(|folder| {
            edit_shard(folder, |shard| shard.header[TENSOR]["dtype"] = dtype.into());
        });
        assert!(matches!(error, Error::Load(LoadError::TensorDType { .. })), "{error:?}");
        assert_says(&error, &[SHARD, TENSOR]);
    }
    // A type that is read, but of another size than the bytes.
    let error = refused(|folder| {
        edit_shard(folder, |shard| shard.header[TENSOR]["dtype"] = "F16".into());
    });
    assert!(matches!(error, Error::Load(LoadError::TensorOffsets { .. })), "{error:?}");
    assert_says(&error, &[SHARD, TENSOR]);
}

#[test]
fn a_wrong_shape() {
    for shape in [
        json!([64, 176]),
        json!([176, 63]),
        json!([176]),
        json!([1u64 << 63, 64]),
    ] {
        let error = refused(|folder| {
            edit_shard(folder, |shard| shard.header[TENSOR]["shape"] = shape.clone());
        });
        assert!(matches!(error, Error::Load(LoadError::TensorShape { .. })), "{error:?}");
        assert_says(&error, &[SHARD, TENSOR, "[176, 64]"]);
    }
    // The right shape, in too few bytes.
    let error = refused(|folder| {
        edit_shard(folder, |shard| {
            let last = shard.data.len() - 64;
            shard.data.truncate(last);
            let biggest = shard.header.iter_mut().filter(|(name, _)| *name != "__metadata__");
            let (_, entry) =
                biggest.max_by_key(|(_, entry)| entry["data_offsets"][1].as_u64()).unwrap();
            entry["data_offsets"][1] = last.into();
        });
    });
    assert!(matches!(error, Error::Load(LoadError::TensorOffsets { .. })), "{error:?}");
    assert_says(&error, &[SHARD, "model.layers.1."]);
}

#[test]
fn a_missing_tensor() {
    // In the file, although the index promises it.
    let error = refused(|folder| {
        edit_shard(folder, |shard| {
            let entry = shard.header.remove(TENSOR).unwrap();
            shard.header.insert("something.else".to_owned(), entry);
        });
    });
    assert!(matches!(error, Error::Load(LoadError::ShardLacks { .. })), "{error:?}");
    assert_says(&error, &[INDEX, SHARD, TENSOR]);
    // In the index and in all files.
    let error = refused(|folder| {
        edit_json(folder, "config.json", |config| {
            config["num_hidden_layers"] = 4.into();
            config["layer_types"] = Value::Null; // as many entries as layers
        });
    });
    assert!(matches!(error, Error::Load(LoadError::TensorMissing { .. })), "{error:?}");
    assert_says(&error, &[INDEX, "model.layers.3."]);
}

#[test]
fn a_tensor_in_two_files() {
    let error = refused(|folder| {
        edit_shard(folder, |shard| shard.add("model.norm.weight", "F32", &[64], &[0; 256]));
    });
    assert!(matches!(error, Error::Load(LoadError::TensorTwice { .. })), "{error:?}");
    assert_says(
        &error,
        &[
            SHARD,
            "model-00005-of-00005.safetensors",
            "model.norm.weight",
        ],
    );
}

#[test]
fn a_missing_shard() {
    let error = refused(|folder| std::fs::remove_file(folder.join(SHARD)).unwrap());
    assert!(matches!(error, Error::Load(LoadError::ShardMissing { .. })), "{error:?}");
    assert_says(&error, &[INDEX, SHARD, "model.layers.1."]);
    // A folder of that name is no file.
    let error = refused(|folder| {
        std::fs::remove_file(folder.join(SHARD)).unwrap();
        std::fs::create_dir(folder.join(SHARD)).unwrap();
    });
    assert!(matches!(error, Error::Load(LoadError::Io { .. })), "{error:?}");
    assert_says(&error, &[SHARD]);
}

#[test]
fn an_index_that_leads_out_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("weights.safetensors");
    std::fs::copy(fixture("models/qwen3").join(SHARD), &target).unwrap();
    for name in [
        target.to_str().unwrap(),
        "../weights.safetensors",
        "../qwen3/model-00003-of-00005.safetensors",
        "sub/../model-00003-of-00005.safetensors",
        "./model-00003-of-00005.safetensors",
        "..",
        ".",
        "/",
        "",
        "sub/",
        "sub\\weights.safetensors",
        "c:weights.safetensors",
    ] {
        let error = refused(|folder| {
            edit_json(folder, INDEX, |index| index["weight_map"][TENSOR] = name.into());
        });
        assert!(
            matches!(error, Error::Load(LoadError::ShardOutside { .. })),
            "{name}: {error:?}"
        );
        assert_says(&error, &[INDEX, TENSOR]);
    }
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

#[test]
fn a_name_that_occurs_twice_in_a_header() {
    let header = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let error = refused(|folder| {
        let length = (header.len() as u64).to_le_bytes();
        std::fs::write(folder.join(SHARD), [&length, header.as_bytes(), &[0]].concat()).unwrap();
    });
    assert_says(&error, &[SHARD, "tensor \"a\" occurs twice"]);
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

/// A weight that is not finite gives no text, however weights, keys and values are stored.
#[test]
fn a_weight_that_is_not_finite_is_found_in_every_format() {
    let plain = Storage::from(Precision::F32);
    let quantized = |format| {
        let embedding = Some(MatrixFormat::Quantized(format));
        Storage { layers: Some(format), embedding, ..plain }
    };
    let int8 = quantized(Quantized::Int8);
    let int4 = quantized(Quantized::Int4);
    let rounding = Rounding::LeastSquares;
    let activations = Activations::Int8;
    let formats = [
        (plain, KvFormat::F32),
        (plain, KvFormat::Int8),
        (int8, KvFormat::F32),
        (int4, KvFormat::F32),
        (Storage { rounding, ..int8 }, KvFormat::Int8),
        (Storage { rounding, ..int4 }, KvFormat::F16),
        (Storage { activations, ..int8 }, KvFormat::F32),
        (Storage { activations, ..int4 }, KvFormat::Int8),
        // The embedding alone stays as it is, and so what is rounded is not finite already.
        (
            Storage {
                embedding: Some(MatrixFormat::Dense(Precision::F32)),
                activations,
                ..int8
            },
            KvFormat::F32,
        ),
    ];
    for part in [
        "model.embed_tokens",
        "model.layers.1.self_attn.q_proj",
        "model.layers.1.self_attn.k_proj",
        "model.layers.1.self_attn.v_proj",
        "model.layers.1.self_attn.o_proj",
        "model.layers.1.mlp.gate_proj",
        "model.layers.1.mlp.up_proj",
        "model.layers.1.mlp.down_proj",
    ] {
        for bad in [f32::NAN, f32::INFINITY] {
            let folder = copy_of(&fixture("models/llama-gqa"));
            let path = folder.path().join("model.safetensors");
            let mut checkpoint = Checkpoint::parse(&std::fs::read(&path).unwrap());
            let offsets = &checkpoint.header[&format!("{part}.weight")]["data_offsets"];
            // The sixth number of the sixth row: the embedding's row of a token of the prompt.
            let row = if part.ends_with("down_proj") { 160 } else { 64 };
            let start = offsets[0].as_u64().unwrap() as usize + 4 * (5 * row + 5);
            checkpoint.data[start..start + 4].copy_from_slice(&bad.to_le_bytes());
            std::fs::write(&path, checkpoint.to_bytes()).unwrap();
            for (storage, kv_format) in formats {
                let model = Pretrained::load(folder.path(), &device(), storage).unwrap().model;
                let model = model.with_kv_format(kv_format).unwrap();
                let options = Options { max_tokens: 5, ..Options::default() };
                let found = cached(&model, &[5, 99, 17, 42, 260, 3], &options, &mut go_on);
                let what = format!("{bad} in {part}, {storage:?}, {kv_format:?}");
                assert!(
                    matches!(found, Err(Error::Device(DeviceError::Logits { step: 0, .. }))),
                    "{what}: {found:?}"
                );
            }
        }
    }
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
