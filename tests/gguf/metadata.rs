//! Metadata that cannot be used.

use slowburn::generate::Pooling;

use super::*;

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
    let yarn = |file: &mut Gguf| {
        file.set("qwen3.rope.scaling.type", text("yarn"));
        file.remove("qwen3.rope.scaling.factor");
    };
    assert_edit_refused("qwen3", yarn, &["qwen3.rope.scaling.factor", "is missing"]);
}

#[test]
fn hyperparameters_that_are_not_supported() {
    let error = assert_edit_refused(
        "llama",
        |file| file.set("general.architecture", text("mamba")),
        &[
            "`general.architecture` is \"mamba\"",
            "`phi3`, `olmo2`, `granite` or `gpt2`",
        ],
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
        ("llama.rope.scaling.factor", Meta::F32(-2.0), ["is -2,", "a number above 0"]),
        ("llama.rope.scale_linear", Meta::F32(-2.0), ["is -2,", "a number above 0"]),
        ("llama.attention.causal", Meta::Bool(false), ["is false,", "read forwards"]),
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
        ("tokenizer.ggml.pre", "gemma4", ["is \"gemma4\"", "`deepseek-v3` or `smollm`"]),
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
        ("tokenizer.ggml.eos_token_id", text("x"), ["is \"x\"", "a whole number"]),
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

/// As in llama.cpp: such a token is none, and loading says so.
#[test]
fn special_tokens_outside_the_vocabulary() {
    let count = u64::MAX.to_le_bytes().to_vec();
    for (key, value, said) in [
        ("bos_token_id", number(320), "320"),
        ("eot_token_id", number(u32::MAX), "4294967295"),
        ("padding_token_id", Meta::Raw(5, (-1_i32).to_le_bytes().to_vec()), "-1"),
        ("mask_token_id", Meta::Raw(10, count), "18446744073709551615"),
    ] {
        let key = format!("tokenizer.ggml.{key}");
        let pretrained = edited("llama", |file| file.set(&key, value));
        let [warning] = &pretrained.warnings[..] else {
            panic!("{:?}", pretrained.warnings);
        };
        assert!(warning.contains(&key) && warning.contains(&format!("is {said},")), "{warning}");
    }
    let pretrained = edited("llama", |file| {
        file.set("tokenizer.ggml.bos_token_id", number(320));
        file.set("tokenizer.ggml.add_bos_token", Meta::Bool(true));
    });
    assert_eq!(pretrained.model.config().bos_token_id, None);
    assert_eq!(pretrained.tokenizer.encode("a").unwrap().len(), 1);
    assert!(load_gguf("llama").warnings.is_empty());
}

/// Text that is not UTF-8 is wrong where it is read, and nowhere else.
#[test]
fn text_that_is_not_utf8() {
    let raw = |texts: &[&[u8]]| -> Vec<u8> {
        let with_length = |text: &&[u8]| [&(text.len() as u64).to_le_bytes(), *text].concat();
        texts.iter().flat_map(with_length).collect()
    };
    let text = Meta::Raw(8, raw(&[b"\xff\xfe"]));
    let texts = array(8, 3, &raw(&[b"a", b"\xff", b"b"]));
    for value in [&text, &texts] {
        edited("llama", |file| file.set("general.description", value.clone()));
    }
    let words = ["is text that is not UTF-8", "a text"];
    assert_metadata_refused("llama", "tokenizer.chat_template", text, &words);
    let words = ["is text that is not UTF-8", "an array of texts"];
    assert_metadata_refused("llama", "tokenizer.ggml.tokens", texts, &words);
}

#[test]
fn how_a_text_becomes_one_vector() {
    let pooling =
        |value: u32| edited("qwen3", |file| file.set("qwen3.pooling_type", number(value))).pooling;
    assert_eq!(load_gguf("qwen3").pooling, None);
    assert_eq!([0, 1, 3].map(pooling), [None, Some(Pooling::Mean), Some(Pooling::Last)]);
    let error = assert_edit_refused(
        "qwen3",
        |file| file.set("qwen3.pooling_type", number(2)),
        &["`pooling_type` is 2"],
    );
    assert!(matches!(error, Error::Load(LoadError::Unsupported { .. })), "{error:?}");
}
