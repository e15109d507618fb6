//! Files that cannot be read: each is refused with an error that names the file and says what is wrong
//! with it.

use super::*;

#[test]
fn editing_nothing_changes_nothing() {
    for name in ["llama", "gpt2", "mixed", "spm"] {
        let bytes = std::fs::read(file(name)).unwrap();
        assert!(whole(name).to_bytes() == bytes, "{name}");
    }
}

#[test]
fn version_2_is_read_too() {
    edited("llama", |file| file.version = 2);
}

/// Values and arrays that nothing reads are passed over, whatever their type.
#[test]
fn metadata_of_every_type() {
    let mut file = whole("llama");
    for (id, size) in [
        (0, 1),
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 4),
        (5, 4),
        (6, 4),
        (7, 1),
        (10, 8),
        (11, 8),
        (12, 8),
    ] {
        file.set(&format!("one.{id}"), Meta::Raw(id, vec![1; size]));
        file.set(&format!("many.{id}"), array(id, 3, &vec![1; 3 * size]));
    }
    let inner = [&4_u32.to_le_bytes()[..], &1_u64.to_le_bytes(), &[0; 4]].concat();
    file.set("nested", array(9, 2, &[&inner[..], &inner].concat()));
    load_bytes(&file.to_bytes()).unwrap();
}

#[test]
fn a_missing_file() {
    let error = refused(load(&file("none")), &["none.gguf"]);
    assert!(matches!(error, Error::Load(LoadError::Io { .. })), "{error:?}");
}

#[test]
fn a_file_of_another_format() {
    assert_refused(b"", &["4 bytes should follow byte 0", "only 0 do"]);
    assert_refused(b"GGUF", &["4 bytes should follow byte 4"]);
    assert_refused(b"\x89PNG\r\n", &["it begins with \"\\x89PNG\"", "not with \"GGUF\""]);
}

#[test]
fn another_version() {
    for (version, found) in [
        (1, "version 1,"),
        (4, "version 4,"),
        (3_u32.swap_bytes(), "version 3, big-endian"),
    ] {
        let error = assert_edit_refused("llama", |file| file.version = version, &[found]);
        assert!(matches!(error, Error::Load(LoadError::GgufVersion { .. })), "{error:?}");
    }
}

/// Counts and lengths that the file cannot hold are found out before memory is taken for them.
#[test]
fn huge_counts_and_lengths() {
    let bytes = whole("llama").to_bytes();
    let with = |at: usize, value: u64| {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for huge in [1 << 20, 1 << 40, u64::MAX] {
        assert_refused(&with(16, huge), &["metadata entries", "bytes follow"]);
        assert_refused(&with(24, huge), &["bytes should follow byte 32"]);
        let words = ["elements of an array"];
        for kind in [0, 8, 10, 9] {
            assert_edit_refused("llama", |file| file.set("x", array(kind, huge, &[])), &words);
        }
    }
    assert_refused(&with(8, 1 << 40), &["1099511627776 tensors", "bytes follow"]);
    // The last header that fits is shorter than the data.
    assert_refused(&with(8, 1000), &[]);
}

#[test]
fn a_header_that_is_no_header() {
    let raw = |id: u32, bytes: &[u8]| Meta::Raw(id, bytes.to_vec());
    let problem = |meta: Meta, words: &[&str]| {
        let error = assert_edit_refused("llama", |file| file.set("x", meta), words);
        assert!(matches!(error, Error::Load(LoadError::Gguf { .. })), "{error:?}");
    };
    problem(raw(13, &[0; 8]), &["the type of a value at byte", "is 13, not 0 to 12"]);
    problem(raw(7, &[2]), &["the bool at byte", "is 2, not 0 or 1"]);
    let mut nested = [&0_u32.to_le_bytes()[..], &0_u64.to_le_bytes()].concat();
    for _ in 0..5 {
        nested = [&9_u32.to_le_bytes()[..], &1_u64.to_le_bytes(), &nested].concat();
    }
    problem(Meta::Raw(9, nested), &["nested more than 4 deep"]);
    let twice = |file: &mut Gguf| file.metadata.push(("x".to_owned(), number(1)));
    let twice = assert_edit_refused(
        "llama",
        |file| {
            twice(file);
            twice(file);
        },
        &["metadata key \"x\" occurs twice"],
    );
    assert!(matches!(twice, Error::Load(LoadError::Gguf { .. })), "{twice:?}");
    let again = |file: &mut Gguf| file.tensors.push(file.tensors[0].clone());
    assert_edit_refused("llama", again, &["tensor \"token_embd.weight\" occurs twice"]);
}

/// A sparse file, of which nothing but the header is there.
#[test]
fn a_header_without_end() {
    let mut file = whole("llama");
    file.tensors.clear();
    let length = 200_000_000_u64;
    file.set("x", Meta::Raw(8, length.to_le_bytes().to_vec()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.gguf");
    std::fs::write(&path, file.header()).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(300_000_000).unwrap();
    refused(load(&path), &["its header has more than 100000000 bytes"]);
}

#[test]
fn tensors_that_are_not_where_they_should_be() {
    const NAME: &str = "blk.1.ffn_up.weight";
    let problem = |edit: fn(&mut Gguf), words: &[&str]| {
        let error = assert_edit_refused("llama", edit, words);
        assert!(matches!(error, Error::Load(LoadError::GgufTensor { .. })), "{error:?}");
        assert!(error.to_string().contains("it again"), "{error}");
    };
    problem(|file| file.info(NAME).offset += 8, &[NAME, "not at a multiple of 32"]);
    problem(|file| file.info(NAME).offset -= 32, &["inside another that ends at byte"]);
    problem(|file| file.info(NAME).offset = 0, &["inside another that ends at byte"]);
    problem(|file| file.info(NAME).offset = 1 << 40, &[NAME, "but the file has only"]);
    problem(|file| file.info(NAME).offset = u64::MAX - 31, &[NAME, "but the file has only"]);
    problem(
        |file| file.data.truncate(file.data.len() - 200),
        &["blk.1.ffn_norm.weight", "but the file has only"],
    );
    problem(|file| file.info(NAME).shape = vec![1; 5], &[NAME, "has 5 dimensions"]);
    let huge = "more numbers than any file holds";
    problem(|file| file.info(NAME).shape = vec![1 << 63, 4], &[NAME, huge]);
    problem(|file| file.info(NAME).shape = vec![u64::MAX, u64::MAX], &[NAME, huge]);
    problem(
        |file| file.info(NAME).kind = 12,
        &[NAME, "has rows of 32 numbers, but its blocks have 256"],
    );
}

#[test]
fn types_that_are_not_read() {
    for (id, name) in [
        (16, "IQ2_XXS"),
        (21, "IQ3_S"),
        (34, "TQ1_0"),
        (28, "F64"),
        (999, "type 999"),
    ] {
        let edit = |file: &mut Gguf| file.info("blk.0.attn_v.weight").kind = id;
        let words = ["blk.0.attn_v.weight", name, "IQ4_XS and MXFP4 are read"];
        let error = assert_edit_refused("llama", edit, &words);
        assert!(matches!(error, Error::Load(LoadError::GgufType { .. })), "{error:?}");
    }
}

#[test]
fn tensors_that_do_not_fit_the_metadata() {
    let rename = |file: &mut Gguf| file.info("blk.1.ffn_up.weight").name = "other".to_owned();
    let error = assert_edit_refused("llama", rename, &["`blk.1.ffn_up.weight` is missing"]);
    assert!(matches!(error, Error::Load(LoadError::TensorMissing { .. })), "{error:?}");
    let rename = |file: &mut Gguf| file.info("token_embd.weight").name = "other".to_owned();
    assert_edit_refused("llama", rename, &["`token_embd.weight` is missing"]);
    let words = ["`blk.0.ffn_gate.weight`", "[64, 32]", "[63, 32]"];
    let shorter = |file: &mut Gguf| file.set("llama.feed_forward_length", number(63));
    let error = assert_edit_refused("llama", shorter, &words);
    assert!(matches!(error, Error::Load(LoadError::TensorShape { .. })), "{error:?}");
    let more = |file: &mut Gguf| file.set("llama.block_count", number(1 << 30));
    assert_edit_refused("llama", more, &["`blk.2.attn_norm.weight` is missing"]);
    let blocks = |file: &mut Gguf| file.info("output_norm.weight").kind = 8;
    assert_edit_refused("llama", blocks, &["output_norm.weight", "is a vector in blocks"]);
    // A head is tied where it is missing.
    let rename = |file: &mut Gguf| file.info("output.weight").name = "other".to_owned();
    let pretrained = edited("llama3", rename);
    assert!(pretrained.model.config().tied_head);
    assert_eq!(pretrained.unused, ["other"]);
}

#[test]
fn factors_of_rope_that_cannot_work() {
    const NAME: &str = "rope_freqs.weight";
    for factor in [0.0_f32, -1.0, f32::NAN, f32::INFINITY] {
        let damage = |file: &mut Gguf| {
            let at = file.info(NAME).offset as usize;
            file.data[at..at + 4].copy_from_slice(&factor.to_le_bytes());
        };
        assert_edit_refused("llama3", damage, &[NAME, "factors of RoPE are above 0"]);
    }
    let as_f16 = |file: &mut Gguf| file.info(NAME).kind = 1;
    assert_edit_refused("llama3", as_f16, &[NAME, "must be stored as F32"]);
    let shorter = |file: &mut Gguf| file.info(NAME).shape = vec![7];
    assert_edit_refused("llama3", shorter, &[NAME, "has shape [7]", "[8]"]);
    let linear = |file: &mut Gguf| {
        file.set("llama.rope.scaling.type", text("linear"));
        file.set("llama.rope.scaling.factor", Meta::F32(2.0));
    };
    assert_edit_refused("llama3", linear, &["llama.rope.scaling.type", "`none` beside a tensor"]);
}

/// What a file says is repeated in an error as a part of one line, however long it is.
#[test]
fn names_and_values_that_are_no_line() {
    let long = format!("a\n\u{1b}[31m\u{202e}{}", "x".repeat(1 << 20));
    let architecture = |file: &mut Gguf| file.set("general.architecture", text(&long));
    assert_edit_refused("llama", architecture, &["a\\n"]);
    let key = |file: &mut Gguf| file.set("llama.rope.scaling.type", text(&long));
    assert_edit_refused("llama", key, &["llama.rope.scaling.type"]);
    let tensor = |file: &mut Gguf| {
        let info = file.info("output_norm.weight");
        (info.name, info.kind) = (long.clone(), 16);
    };
    assert_edit_refused("llama", tensor, &["IQ2_XXS"]);
}
