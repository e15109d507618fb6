//! Models that were split into several GGUF files: the same bits as in one file, whichever part is
//! given, and parts that do not belong together are refused by name.

use tempfile::TempDir;

use super::*;

fn name(number: usize, count: usize) -> String {
    format!("tiny-{number:05}-of-{count:05}.gguf")
}

/// A folder with the parts of a model.
fn folder_of(parts: &[Gguf]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (i, part) in parts.iter().enumerate() {
        std::fs::write(folder.path().join(name(i + 1, parts.len())), part.to_bytes()).unwrap();
    }
    folder
}

/// The fixture `llama` in three files.
fn three_parts() -> Vec<Gguf> {
    let file = whole("llama");
    file.split(&[7, 1, file.tensors.len() - 8])
}

fn logits(path: &Path) -> Vec<Vec<f32>> {
    super::logits(&load_all(path), &[5, 77, 130, 9, 250])
}

/// The first of three parts, the last and their folder are refused, the latter with an error that
/// says all of `words`.
#[track_caller]
fn assert_refused(parts: &[Gguf], words: &[&str]) -> Error {
    let folder = folder_of(parts);
    let part = |i| folder.path().join(name(i, parts.len()));
    for path in [part(1), part(3)] {
        assert!(load(&path).is_err(), "{path:?}");
    }
    refused(load(folder.path()), words)
}

#[test]
fn a_split_model_gives_the_bits_of_the_one_file() {
    // `llama3` has the factors of RoPE in a tensor, `mixed` a tensor of each type.
    for model in ["llama", "llama3", "gpt2", "mixed"] {
        let file = whole(model);
        let n = file.tensors.len();
        let expected = logits(&super::file(model));
        // `gguf-split` can leave the first part without tensors.
        for counts in [
            vec![n - 1, 1],
            vec![0, n],
            vec![1, n / 2, n - n / 2 - 1],
            vec![1; n],
        ] {
            let folder = folder_of(&file.split(&counts));
            let part = |i| folder.path().join(name(i, counts.len()));
            for path in [
                part(1),
                part(2),
                part(counts.len()),
                folder.path().to_owned(),
            ] {
                assert!(logits(&path) == expected, "{model}, {counts:?}, {path:?}");
            }
        }
    }
}

#[test]
fn a_folder_with_one_gguf_model_is_that_model() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(file("llama")).unwrap();
    std::fs::write(folder.path().join("tiny.GGUF"), &bytes).unwrap();
    std::fs::write(folder.path().join("README.md"), "about it").unwrap();
    assert!(logits(folder.path()) == logits(&file("llama")));

    // Beside another model, whole or split, it has to be named.
    for other in ["other.gguf".to_owned(), name(1, 3)] {
        let path = folder.path().join(&other);
        std::fs::write(&path, &bytes).unwrap();
        let error = refused(load(folder.path()), &["several GGUF models", &other, "tiny.GGUF"]);
        assert!(matches!(error, Error::Load(LoadError::SeveralGguf { .. })), "{error:?}");
        std::fs::remove_file(path).unwrap();
    }

    // `config.json` is that of the other format.
    std::fs::write(folder.path().join("config.json"), "{}").unwrap();
    refused(load(folder.path()), &["config.json"]);
}

#[test]
fn a_part_that_is_missing_is_named() {
    for missing in 1..=3 {
        let folder = folder_of(&three_parts());
        std::fs::remove_file(folder.path().join(name(missing, 3))).unwrap();
        let given = if missing == 1 { 2 } else { 1 };
        for path in [folder.path(), &folder.path().join(name(given, 3))] {
            let error = refused(load(path), &[&name(given, 3), "3 files", &name(missing, 3)]);
            assert!(
                matches!(error, Error::Load(LoadError::GgufPartMissing { count: 3, .. })),
                "{error:?}"
            );
        }
    }
    let error = load(Path::new("nowhere/tiny-00001-of-00003.gguf")).unwrap_err();
    assert!(matches!(error, Error::Load(LoadError::Io { .. })), "{error:?}");
}

/// The metadata of a part must say what its name says.
#[test]
fn a_file_that_was_renamed_is_refused() {
    let parts = three_parts();
    for renamed in [
        "tiny.gguf",
        "tiny-00002-of-00003.gguf",
        "tiny-00001-of-00002.gguf",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(renamed);
        std::fs::write(&path, parts[0].to_bytes()).unwrap();
        let words = ["`split.count` is 3", "`-00001-of-00003.gguf`", renamed];
        let error = refused(load(&path), &words);
        assert!(matches!(error, Error::Load(LoadError::Metadata { .. })), "{error:?}");
    }
    // In memory, there is nothing beside it.
    let bytes = parts[0].to_bytes();
    let error = Pretrained::from_gguf(&bytes, "memory", &device(), Precision::F32);
    refused(error, &["`split.count` is 3", "merge the parts"]);
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    type Damage = fn(&mut Vec<Gguf>);
    let foreign: [(Damage, &str); 7] = [
        (|parts| parts[1] = parts[2].clone(), "part 3 of 3 with"),
        (|parts| parts[1] = whole("llama"), "a whole model"),
        (|parts| parts[2].set("split.count", Meta::u16(2)), "`split.no` is 2"),
        (|parts| parts[2].set("split.count", Meta::u16(4)), "part 3 of 4"),
        (|parts| parts[2].set("split.tensors.count", Meta::i32(7)), "with 7 tensors"),
        (|parts| parts[2].remove("split.count"), "a whole model"),
        (
            |parts| parts[2].set("general.architecture", Meta::Text("qwen2".to_owned())),
            "\"general.architecture\" has another value",
        ),
    ];
    for (damage, problem) in foreign {
        let mut parts = three_parts();
        damage(&mut parts);
        let error = assert_refused(&parts, &[problem]);
        match &error {
            Error::Load(LoadError::GgufPartForeign { origin, beside, .. }) => {
                assert!(beside.contains(&name(1, 3)) && !origin.contains(&name(1, 3)), "{error}");
            }
            // A part of two cannot be the third.
            Error::Load(LoadError::Metadata { origin, .. }) => {
                assert!(origin.contains(&name(3, 3)), "{error}")
            }
            _ => panic!("{error:?}"),
        }
    }
}

/// Some programs write the metadata into each part.
#[test]
fn a_part_may_repeat_the_metadata() {
    let mut parts = three_parts();
    let all = parts[0].metadata.clone();
    for part in &mut parts[1..] {
        for (key, value) in std::mem::replace(&mut part.metadata, all.clone()) {
            part.set(&key, value);
        }
    }
    let folder = folder_of(&parts);
    assert!(logits(folder.path()) == logits(&file("llama")));
}

#[test]
fn tensors_that_are_missing_or_there_twice_are_refused() {
    let mut parts = three_parts();
    let twice = parts[0].tensors[0].clone();
    parts[1].tensors[0].name = twice.name.clone();
    let error = assert_refused(&parts, &[&twice.name, &name(1, 3), &name(2, 3), "too"]);
    assert!(matches!(error, Error::Load(LoadError::TensorTwice { .. })), "{error:?}");

    let mut parts = three_parts();
    let n = parts.iter().map(|part| part.tensors.len()).sum::<usize>();
    parts[2].tensors.pop();
    let words = [
        "split.tensors.count",
        &format!("is {n}"),
        &format!("must be {}", n - 1),
    ];
    assert_refused(&parts, &words);

    // All say so, but the model needs more.
    for part in &mut parts {
        part.set("split.tensors.count", Meta::i32(n as i32 - 1));
    }
    let error = assert_refused(&parts, &["is missing"]);
    assert!(matches!(error, Error::Load(LoadError::TensorMissing { .. })), "{error:?}");
}

#[test]
fn counts_that_cannot_be_are_refused() {
    let check = |key: &str, value: Meta, words: &[&str]| {
        let mut parts = three_parts();
        parts[0].set(key, value);
        let folder = folder_of(&parts);
        let error = refused(load(&folder.path().join(name(1, 3))), words);
        assert!(matches!(error, Error::Load(LoadError::Metadata { .. })), "{error:?}");
    };
    check("split.count", Meta::u16(65535), &["split.count", "65535", "at most 512"]);
    check("split.count", Meta::i32(-1), &["split.count", "-1"]);
    check("split.count", Meta::Text("3".to_owned()), &["split.count", "whole number"]);
    check("split.no", Meta::u16(3), &["split.no", "from 0 to 2"]);
    check("split.no", Meta::i32(-1), &["split.no", "-1"]);
    check("split.tensors.count", Meta::i32(-1), &["split.tensors.count", "-1"]);

    let mut parts = three_parts();
    parts[0].set("split.count", Meta::u16(65535));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny-00001-of-65535.gguf");
    std::fs::write(&path, parts[0].to_bytes()).unwrap();
    for path in [&path, folder.path()] {
        refused(load(path), &["at most 512", "tiny-00001-of-65535.gguf"]);
    }
}

/// A part that is cut off anywhere is an error that names it.
#[test]
fn damaged_parts_are_named() {
    let parts = three_parts();
    let folder = folder_of(&parts);
    let path = folder.path().join(name(2, 3));
    let bytes = parts[1].to_bytes();
    for end in (0..bytes.len()).step_by(11) {
        std::fs::write(&path, &bytes[..end]).unwrap();
        refused(load(&folder.path().join(name(1, 3))), &[&name(2, 3)]);
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused(load(folder.path()), &[&name(2, 3), "not a regular file"]);
}
