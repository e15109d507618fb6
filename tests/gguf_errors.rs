//! GGUF files that cannot be read: each is refused with an error that names the file and says what
//! is wrong with it.

mod common;

use common::gguf::{Gguf, Meta};
use common::{device, fixture};
use slowburn::checkpoint::gguf::GgufFile;
use slowburn::device::Precision;
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::Tokenizer;
use slowburn::{Error, LoadError, Result};

fn load(bytes: &[u8]) -> Result<Pretrained> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.gguf");
    std::fs::write(&path, bytes).unwrap();
    Pretrained::load(&path, &device(), Precision::F32)
}

fn whole(name: &str) -> Gguf {
    Gguf::parse(&std::fs::read(fixture(&format!("gguf/{name}.gguf"))).unwrap())
}

/// Loading fails, with one line that says all of `words`.
#[track_caller]
fn assert_refused(bytes: &[u8], words: &[&str]) -> Error {
    let error = load(bytes).unwrap_err();
    let message = error.to_string();
    for word in words.iter().chain(&["damaged.gguf"]) {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert!(message.len() < 1500 && !message.contains(char::is_control), "{message:?}");
    error
}

/// Loading an edited file fails.
#[track_caller]
fn assert_edit_refused(name: &str, edit: impl FnOnce(&mut Gguf), words: &[&str]) -> Error {
    let mut file = whole(name);
    edit(&mut file);
    assert_refused(&file.to_bytes(), words)
}

#[track_caller]
fn assert_metadata_refused(name: &str, key: &str, value: Meta, words: &[&str]) {
    let error = assert_edit_refused(name, |file| file.set(key, value), words);
    assert!(matches!(error, Error::Load(LoadError::Metadata { .. })), "{error:?}");
    assert!(error.to_string().contains(key), "{error}");
}

#[track_caller]
fn assert_without_key_refused(name: &str, key: &str) {
    let error = assert_edit_refused(name, |file| file.remove(key), &[key, "is missing"]);
    assert!(matches!(error, Error::Load(LoadError::Metadata { .. })), "{error:?}");
}

fn number(n: u32) -> Meta {
    Meta::U32(n)
}

fn text(text: &str) -> Meta {
    Meta::Text(text.to_owned())
}

/// An array of `count` elements of a type, of which `elements` follow.
fn array(kind: u32, count: u64, elements: &[u8]) -> Meta {
    let start = [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat();
    Meta::Raw(9, [&start, elements].concat())
}

#[test]
fn editing_nothing_changes_nothing() {
    for name in ["llama", "gpt2", "mixed", "spm"] {
        let bytes = std::fs::read(fixture(&format!("gguf/{name}.gguf"))).unwrap();
        assert!(whole(name).to_bytes() == bytes, "{name}");
    }
}

#[test]
fn version_2_is_read_too() {
    let mut file = whole("llama");
    file.version = 2;
    load(&file.to_bytes()).unwrap();
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
    load(&file.to_bytes()).unwrap();
}

#[test]
fn a_missing_file() {
    let path = fixture("gguf/none.gguf");
    let error = Pretrained::load(&path, &device(), Precision::F32).unwrap_err();
    assert!(matches!(error, Error::Load(LoadError::Io { .. })), "{error:?}");
    assert!(error.to_string().contains("none.gguf"), "{error}");
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
    let length = 2_u64.to_le_bytes();
    problem(raw(8, &[&length[..], &[0xff, 0xfe]].concat()), &["is not UTF-8"]);
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
    let error = Pretrained::load(&path, &device(), Precision::F32).unwrap_err().to_string();
    assert!(error.contains("its header has more than 100000000 bytes"), "{error}");
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
        (10, "Q2_K"),
        (11, "Q3_K"),
        (20, "IQ4_NL"),
        (39, "MXFP4"),
        (28, "F64"),
        (999, "type 999"),
    ] {
        let edit = |file: &mut Gguf| file.info("blk.0.attn_v.weight").kind = id;
        let words = ["blk.0.attn_v.weight", name, "Q4_K, Q5_K and Q6_K are read"];
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
    let mut file = whole("llama3");
    rename(&mut file);
    let pretrained = load(&file.to_bytes()).unwrap();
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

#[test]
fn hyperparameters_that_are_missing() {
    for key in [
        "general.architecture",
        "llama.context_length",
        "llama.embedding_length",
        "llama.block_count",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon",
    ] {
        assert_without_key_refused("llama", key);
    }
    assert_without_key_refused("gpt2", "gpt2.attention.layer_norm_epsilon");
    assert_without_key_refused("qwen3", "qwen3.rope.scaling.factor");
}

#[test]
fn hyperparameters_that_are_not_supported() {
    let error = assert_edit_refused(
        "llama",
        |file| file.set("general.architecture", text("mamba")),
        &["`general.architecture` is \"mamba\"", "`phi3` or `gpt2`"],
    );
    assert!(matches!(error, Error::Load(LoadError::Unsupported { .. })), "{error:?}");
    let negative = Meta::Raw(5, (-3_i32).to_le_bytes().to_vec());
    for (key, value, words) in [
        ("llama.block_count", number(0), ["is 0,", "a size from 1"]),
        ("llama.block_count", number(u32::MAX), ["is 4294967295,", "a size from 1"]),
        ("llama.block_count", negative, ["is -3,", "a whole number, 0 or above"]),
        ("llama.block_count", text("many"), ["is \"many\"", "a whole number"]),
        (
            "llama.block_count",
            Meta::Texts(vec![]),
            ["an array of 0 texts", "a whole number"],
        ),
        (
            "llama.block_count",
            Meta::Floats(vec![0.0]),
            ["an array of 1 floats", "a whole"],
        ),
        (
            "llama.block_count",
            Meta::Integers(vec![1, 2]),
            ["an array of 2 integers", "a whole"],
        ),
        ("llama.block_count", array(0, 1, &[0]), ["is an array", "a whole number"]),
        ("llama.block_count", Meta::Bool(true), ["is true", "a whole number"]),
        ("llama.expert_count", number(1 << 20), ["is 1048576,", "at most 10000 experts"]),
        ("llama.rope.scaling.yarn_log_multiplier", Meta::F32(0.5), ["is 0.5,", "0"]),
        ("llama.attention.value_length", number(4), ["is 4,", "8, the size of a head"]),
        ("llama.rope.dimension_count", number(4), ["is 4,", "8, the size of a head"]),
        (
            "llama.rope.scaling.type",
            text("ntk"),
            ["is \"ntk\"", "`none`, `linear` or `yarn`"],
        ),
        ("llama.rope.scaling.type", number(1), ["is 1,", "a text"]),
        ("llama.rope.freq_base", Meta::F32(0.0), ["is 0,", "a number above 0"]),
        ("llama.rope.freq_base", Meta::F32(f32::NAN), ["is NaN", "a number above 0"]),
        ("llama.rope.freq_base", text("10"), ["is \"10\"", "a number"]),
        ("general.alignment", number(0), ["is 0,", "a power of two"]),
        ("general.alignment", number(48), ["is 48,", "a power of two"]),
        ("general.alignment", number(1 << 31), ["is 2147483648,", "a power of two"]),
    ] {
        assert_metadata_refused("llama", key, value, &words);
    }
    let words = ["is 64,", "over the whole sequence"];
    assert_metadata_refused("qwen2", "qwen2.attention.sliding_window", number(64), &words);
    let words = ["is 5,", "a divisor of embedding_length"];
    assert_metadata_refused("gpt2", "gpt2.attention.head_count", number(5), &words);
    let words = ["is 2,", "the same as attention.head_count"];
    assert_metadata_refused("gpt2", "gpt2.attention.head_count_kv", number(2), &words);
    let edit = |file: &mut Gguf| file.set("llama.attention.head_count_kv", number(3));
    assert_edit_refused("llama", edit, &["`num_key_value_heads` is 3"]);
    let edit = |file: &mut Gguf| {
        for key in [
            "attention.key_length",
            "attention.value_length",
            "rope.dimension_count",
        ] {
            file.set(&format!("llama.{key}"), number(7));
        }
    };
    assert_edit_refused("llama", edit, &["`head_dim` is 7", "an even size"]);
}

#[test]
fn tokenizers_that_are_not_supported() {
    for (key, value, words) in [
        ("tokenizer.ggml.model", "bert", ["is \"bert\"", "SentencePiece's BPE"]),
        ("tokenizer.ggml.pre", "tekken", ["is \"tekken\"", "`qwen2` or `smollm`"]),
    ] {
        let error = assert_edit_refused("llama", |file| file.set(key, text(value)), &words);
        assert!(matches!(error, Error::Load(LoadError::Unsupported { .. })), "{error:?}");
    }
    for key in [
        "tokenizer.ggml.model",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.merges",
    ] {
        assert_without_key_refused("llama", key);
    }
    assert_without_key_refused("spm", "tokenizer.ggml.scores");
}

#[test]
fn tokenizers_that_contradict_themselves() {
    for (key, value, words) in [
        ("tokenizer.ggml.tokens", number(3), ["is 3,", "an array of texts"]),
        (
            "tokenizer.ggml.token_type",
            Meta::Integers(vec![1; 7]),
            ["7 integers", "array of 320"],
        ),
        (
            "tokenizer.ggml.token_type",
            Meta::Integers(vec![9; 320]),
            ["320", "types from 0 to 6"],
        ),
        (
            "tokenizer.ggml.token_type",
            text("x"),
            ["is \"x\"", "an array of 32-bit integers"],
        ),
        ("tokenizer.ggml.bos_token_id", number(320), ["is 320,", "one of the 320 tokens"]),
        (
            "tokenizer.ggml.eot_token_id",
            number(u32::MAX),
            ["4294967295", "one of the 320"],
        ),
        ("tokenizer.ggml.eos_token_id", text("x"), ["is \"x\"", "a whole number"]),
        (
            "tokenizer.ggml.eos_token_id",
            Meta::Raw(10, vec![255; 8]),
            ["is 1844", "a token id"],
        ),
        ("tokenizer.ggml.add_bos_token", number(1), ["is 1,", "true or false"]),
        (
            "tokenizer.ggml.merges",
            Meta::Texts(vec!["ab".into()]),
            ["1 texts", "with a space"],
        ),
        ("tokenizer.chat_template", number(1), ["is 1,", "a text"]),
    ] {
        assert_metadata_refused("llama", key, value, &words);
    }
    let scores = |count| Meta::Floats(vec![0.0; count]);
    let words = ["an array of 3 floats", "one for each token"];
    assert_metadata_refused("spm", "tokenizer.ggml.scores", scores(3), &words);
    let words = ["is \"x\"", "an array of 32-bit floats"];
    assert_metadata_refused("spm", "tokenizer.ggml.scores", text("x"), &words);
    let adds = |file: &mut Gguf| {
        file.remove("tokenizer.ggml.bos_token_id");
        file.set("tokenizer.ggml.add_bos_token", Meta::Bool(true));
    };
    let words = [
        "tokenizer.ggml.add_bos_token",
        "is true",
        "names no such token",
    ];
    assert_edit_refused("spm", adds, &words);
    let long = |file: &mut Gguf| {
        if let Meta::Texts(tokens) = file.value("tokenizer.ggml.tokens") {
            tokens[400] = "x".repeat(300);
        }
    };
    assert_edit_refused("spm", long, &["tokens of up to 256 bytes", "300"]);
    // Merges of tokens that are not there.
    let merges = Meta::Texts(vec!["no such".to_owned()]);
    let error = assert_edit_refused("llama", |file| file.set("tokenizer.ggml.merges", merges), &[]);
    assert!(matches!(error, Error::Load(LoadError::Tokenizer { .. })), "{error:?}");
    // More tokens than the embedding matrix has rows.
    let more = |file: &mut Gguf| {
        file.remove("tokenizer.ggml.token_type");
        if let Meta::Texts(tokens) = file.value("tokenizer.ggml.tokens") {
            tokens.push("one more".to_owned());
        }
    };
    let error = assert_edit_refused("llama", more, &["token id 320"]);
    assert!(matches!(error, Error::Load(LoadError::TokenizerTooLarge { .. })), "{error:?}");
    // So many more that no tokenizer is made of them.
    let many = |file: &mut Gguf| {
        file.remove("tokenizer.ggml.token_type");
        if let Meta::Texts(tokens) = file.value("tokenizer.ggml.tokens") {
            tokens.extend((0..100_000).map(|i| format!("one more {i}")));
        }
    };
    let error = assert_edit_refused("llama", many, &["100320 tokens", "has 320"]);
    assert!(matches!(error, Error::Load(LoadError::TokenizerTooMany { .. })), "{error:?}");
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
        (info.name, info.kind) = (long.clone(), 10);
    };
    assert_edit_refused("llama", tensor, &["Q2_K"]);
}

/// Flags and defaults of the metadata decide which special tokens are added.
#[test]
fn special_tokens_that_are_added() {
    let ids = |name: &str, edit: fn(&mut Gguf)| {
        let mut file = whole(name);
        edit(&mut file);
        load(&file.to_bytes()).unwrap().tokenizer.encode("a").unwrap()
    };
    let plain = ids("qwen2", |_| ());
    assert_eq!(plain.len(), 1);
    let both = ids("qwen2", |file| {
        file.set("tokenizer.ggml.add_bos_token", Meta::Bool(true));
        file.set("tokenizer.ggml.add_eos_token", Meta::Bool(true));
    });
    assert_eq!(both, [0, plain[0], 1]);
    // Files of Llama 3 that do not say mean true, and so do those of SentencePiece.
    assert_eq!(ids("llama", |file| file.remove("tokenizer.ggml.add_bos_token"))[0], 0);
    assert_eq!(ids("qwen2", |file| file.remove("tokenizer.ggml.add_bos_token")), plain);
    assert_eq!(ids("spm", |_| ())[0], 1);
    let none = ids("spm", |file| {
        file.set("tokenizer.ggml.add_bos_token", Meta::Bool(false));
        file.set("tokenizer.ggml.add_space_prefix", Meta::Bool(false));
    });
    let with_space = ids("spm", |file| {
        file.set("tokenizer.ggml.add_bos_token", Meta::Bool(false));
    });
    assert_ne!(none, with_space);
}

/// Files of SmolLM3 say so, and have no token before a text.
#[test]
fn smaug_splits_a_text_as_llama_3_does() {
    let encode = |pre: &str, prompt: &str| {
        let mut file = whole("llama");
        file.set("tokenizer.ggml.pre", text(pre));
        file.remove("tokenizer.ggml.add_bos_token");
        load(&file.to_bytes()).unwrap().tokenizer.encode(prompt).unwrap()
    };
    for prompt in ["a", "Once upon a time", "I'LL  see\n\n 12345 frogs, don't"] {
        assert_eq!(encode("smaug-bpe", prompt), encode("llama-bpe", prompt)[1..], "{prompt}");
    }
}

/// The special tokens of Phi-3 take the white space behind them, but for the begin-of-sequence token.
#[test]
fn special_tokens_of_phi3_take_the_space_behind_them() {
    let encode = |architecture: &str, prompt: &str| {
        let mut file = whole("spm");
        file.set("general.architecture", text(architecture));
        let bytes = file.to_bytes();
        let file = GgufFile::from_bytes(&bytes, "phi3.gguf").unwrap();
        Tokenizer::from_gguf(&file, 480).unwrap().encode(prompt).unwrap()
    };
    let plain = encode("phi3", "<tool>Hello</s>Hello");
    assert_eq!(encode("phi3", "<tool>\nHello</s> \n Hello"), plain);
    assert_ne!(encode("phi3", "<s>\nHello"), encode("phi3", "<s>Hello"));
    assert_eq!(encode("llama", "<tool>Hello</s>Hello"), plain);
    assert_ne!(encode("llama", "Hello</s>\nHello"), encode("llama", "Hello</s>Hello"));
}

/// Files of some chat models name the end of a text alone. That of a turn is known by its text.
#[test]
fn the_end_of_a_turn_is_found_by_its_text() {
    let ends = |edit: fn(&mut Gguf)| {
        let mut file = whole("llama");
        edit(&mut file);
        load(&file.to_bytes()).unwrap().model.config().eos_token_ids.clone()
    };
    assert_eq!(ends(|_| ()), [1, 3]);
    assert_eq!(ends(|file| file.remove("tokenizer.ggml.eot_token_id")), [1, 3]);
    let of_another_text = ends(|file| {
        file.remove("tokenizer.ggml.eot_token_id");
        if let Meta::Texts(tokens) = file.value("tokenizer.ggml.tokens") {
            tokens[3] = "<|stop|>".to_owned();
        }
    });
    assert_eq!(of_another_text, [1]);
}

/// Some models have a chat template of their own for conversations with tools.
#[test]
fn the_chat_template_for_tools_is_read() {
    let mut file = whole("llama");
    let plain = load(&file.to_bytes()).unwrap().tokenizer;
    let plain = plain.chat_template().unwrap();
    assert_eq!(plain.tool_source(), plain.source());
    file.set("tokenizer.chat_template.tool_use", text("with tools"));
    let tokenizer = load(&file.to_bytes()).unwrap().tokenizer;
    let template = tokenizer.chat_template().unwrap();
    assert_eq!((template.source(), template.tool_source()), (plain.source(), "with tools"));
}
