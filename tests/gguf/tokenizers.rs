//! What a file says of its tokenizer.

use slowburn::tokenizer::{ChatOptions, IncrementalDecoder, Message, Role, Tokenizer};

use super::*;

#[test]
fn token_ids_are_those_of_other_tokenizers() {
    let expected = read_json(&fixture("gguf/tokens.json"));
    for name in PAIRS.into_iter().chain(["spm"]) {
        let tokenizer = load_gguf(name).tokenizer;
        for row in expected[name].as_array().unwrap() {
            let (text, expected) = (row["text"].as_str().unwrap(), ids(&row["ids"]));
            assert_eq!(tokenizer.encode(text).unwrap(), expected, "{name}: {text:?}");
        }
    }
}

/// What is encoded comes back, whole and token by token.
#[test]
fn texts_survive() {
    let expected = read_json(&fixture("gguf/tokens.json"));
    for name in ["llama", "llama3", "gpt2", "spm"] {
        let tokenizer = load_gguf(name).tokenizer;
        for row in expected[name].as_array().unwrap() {
            let (text, ids) = (row["text"].as_str().unwrap(), ids(&row["ids"]));
            if text.contains("<|") || text.contains("<s>") {
                continue; // special tokens have no text
            }
            assert_eq!(tokenizer.decode(&ids).unwrap(), text, "{name}");
            let mut decoder = IncrementalDecoder::after(&tokenizer, &[]);
            let mut written = String::new();
            for id in ids {
                written += &decoder.push(id).unwrap();
            }
            written += &decoder.finish().unwrap();
            assert_eq!(written, text, "{name}");
        }
    }
}

#[test]
fn special_tokens_of_a_sentence_piece_vocabulary() {
    let tokenizer = load_gguf("spm").tokenizer;
    assert_eq!(tokenizer.bos_id(), Some(1));
    let hello = tokenizer.encode("Hello").unwrap();
    // Special tokens in a text are themselves, and what follows begins a text.
    let twice = tokenizer.encode("Hello</s>Hello").unwrap();
    assert_eq!(twice, [&hello[..], &[2], &hello[1..]].concat());
    assert_eq!(tokenizer.decode(&hello).unwrap(), "Hello");
}

/// Gemma 4's vocabulary is as SentencePiece's, and its merges have ranks.
#[test]
fn ranked_merges_of_a_sentence_piece_vocabulary() {
    let folder = fixture("tokenizers/sentencepiece");
    let model = &read_json(&folder.join("tokenizer.json"))["model"];
    let vocabulary = model["vocab"].as_object().unwrap();
    let mut tokens = vec![String::new(); vocabulary.len()];
    for (token, id) in vocabulary {
        tokens[id.as_u64().unwrap() as usize].clone_from(token);
    }
    let pair = |merge: &serde_json::Value| {
        format!("{} {}", merge[0].as_str().unwrap(), merge[1].as_str().unwrap())
    };
    let merges = model["merges"].as_array().unwrap().iter().map(pair).collect();
    let kind = |token: &String| match token.as_str() {
        "<unk>" => 2,
        "<s>" | "</s>" => 3,
        token if token.starts_with("<0x") => 6,
        _ => 1,
    };
    let mut file = whole("spm");
    for (key, value) in [
        ("model", Meta::Text("gemma4".to_owned())),
        ("token_type", Meta::Integers(tokens.iter().map(kind).collect())),
        ("tokens", Meta::Texts(tokens.clone())),
        ("merges", Meta::Texts(merges)),
        ("add_bos_token", Meta::Bool(false)),
    ] {
        file.set(&format!("tokenizer.ggml.{key}"), value);
    }
    file.remove("tokenizer.ggml.scores");
    let bytes = file.to_bytes();
    let file = GgufFile::from_bytes(&bytes, "gemma4").unwrap();
    let tokenizer = Tokenizer::from_gguf(&file, tokens.len()).unwrap();
    for row in read_json(&folder.join("expected.json")).as_array().unwrap() {
        let text = row["text"].as_str().unwrap();
        assert_eq!(tokenizer.encode(text).unwrap(), ids(&row["ids"]), "{text:?}");
    }
}

#[test]
fn the_chat_template_and_the_ends_of_a_turn_are_read() {
    let pretrained = load_gguf("llama");
    assert_eq!(pretrained.model.config().bos_token_id, Some(0));
    assert_eq!(pretrained.model.config().eos_token_ids, [1, 3]);
    let messages = [Message::new(Role::User, "Hello")];
    let tokenizer = &pretrained.tokenizer;
    let found = tokenizer.encode_chat(&messages, &ChatOptions::default()).unwrap();
    // The begin-of-sequence token is left to the template, and this one writes none.
    let hello = tokenizer.encode("Hello").unwrap();
    assert_eq!(found, [&[2], &hello[1..], &[3]].concat());
}

/// Flags and defaults of the metadata decide which special tokens are added.
#[test]
fn special_tokens_that_are_added() {
    let ids = |name: &str, edit: fn(&mut Gguf)| edited(name, edit).tokenizer.encode("a").unwrap();
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
        let edit = |file: &mut Gguf| {
            file.set("tokenizer.ggml.pre", text(pre));
            file.remove("tokenizer.ggml.add_bos_token");
        };
        edited("llama", edit).tokenizer.encode(prompt).unwrap()
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
    let ends = |edit: fn(&mut Gguf)| edited("llama", edit).model.config().eos_token_ids.clone();
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
    let plain = load_gguf("llama").tokenizer;
    let plain = plain.chat_template().unwrap();
    assert_eq!(plain.tool_source(), plain.source());
    let edit = |file: &mut Gguf| file.set("tokenizer.chat_template.tool_use", text("with tools"));
    let tokenizer = edited("llama", edit).tokenizer;
    let template = tokenizer.chat_template().unwrap();
    assert_eq!((template.source(), template.tool_source()), (plain.source(), "with tools"));
}
