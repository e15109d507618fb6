//! Tokenizers: their files, texts that are streamed, special tokens and chat templates.

mod chat;
#[path = "../common/mod.rs"]
mod common;
mod files;
mod published;
mod spark;
mod special_tokens;
mod streaming;
mod thoughts;

use common::{fixture, read_json};
use serde_json::{Value, json};
use slowburn::Error;
use slowburn::tokenizer::{ChatOptions, ChatTemplate, Message, Role, Tokenizer};

/// The file of a tokenizer of the fixtures, after an edit.
fn edited(name: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut json = read_json(&fixture(&format!("tokenizers/{name}/tokenizer.json")));
    edit(&mut json);
    json.to_string()
}

fn read_tokenizer(name: &str, edit: impl FnOnce(&mut Value)) -> Tokenizer {
    Tokenizer::from_json(edited(name, edit).as_bytes(), "tokenizer.json").unwrap()
}

fn with_config(tokenizer: Tokenizer, config: &Value) -> Tokenizer {
    tokenizer.with_config(config.to_string().as_bytes(), "tokenizer_config.json").unwrap()
}

fn encode_hello(tokenizer: &Tokenizer) -> slowburn::Result<Vec<u32>> {
    tokenizer.encode_chat(&[Message::new(Role::User, "Hello")], &ChatOptions::default())
}
