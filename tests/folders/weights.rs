//! Weights that are damaged in a known way.

use slowburn::DeviceError;
use slowburn::generate::{Options, cached};
use slowburn::kernels::{Activations, KvFormat, Quantized, Rounding};
use slowburn::storage::{MatrixFormat, Storage};

use super::*;
use crate::common::go_on;

#[test]
fn the_format_of_a_checkpoint_is_that_of_its_numbers() {
    for (name, expected) in [
        ("gemma3", Precision::Bf16),
        ("phi3", Precision::F16),
        ("qwen3", Precision::F32), // in several files
    ] {
        let folder = fixture(&format!("models/{name}"));
        assert_eq!(Pretrained::precision_of(&folder).unwrap(), expected, "{name}");
    }
    let folder = copy_of(&fixture("models/qwen3"));
    std::fs::remove_file(folder.path().join(SHARD)).unwrap();
    let error = Pretrained::precision_of(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Load(LoadError::ShardMissing { .. })), "{error:?}");
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
fn a_name_that_occurs_twice_in_a_header() {
    let header = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let error = refused(|folder| {
        let length = (header.len() as u64).to_le_bytes();
        std::fs::write(folder.join(SHARD), [&length, header.as_bytes(), &[0]].concat()).unwrap();
    });
    assert_says(&error, &[SHARD, "tensor \"a\" occurs twice"]);
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
            edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
                // The sixth number of the sixth row: the embedding's row of a token of the prompt.
                let row = if part.ends_with("down_proj") { 160 } else { 64 };
                let (name, from) = (format!("{part}.weight"), 4 * (5 * row + 5));
                checkpoint.overwrite(&name, from, &f32::to_le_bytes(bad));
            });
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
