//! GGUF files: the same logits as the same weights in safetensors, as llama.cpp computes them, and
//! the same token ids as other tokenizers. `tests/fixtures/gguf/make_fixtures.py` made the files.

#[path = "../common/mod.rs"]
mod common;
mod errors;
mod metadata;
mod split;
mod tokenizers;
mod values;

use std::path::{Path, PathBuf};

use common::gguf::{Gguf, Meta};
use common::{assert_says, device, fixture, read_json};
use slowburn::checkpoint::gguf::GgufFile;
use slowburn::device::Precision;
use slowburn::model::{Input, Logits};
use slowburn::pretrained::Pretrained;
use slowburn::{Error, LoadError, Result};

/// The models that are there as a folder too.
const PAIRS: [&str; 5] = ["llama", "llama3", "qwen2", "qwen3", "gpt2"];

fn file(name: &str) -> PathBuf {
    fixture(&format!("gguf/{name}.gguf"))
}

fn load(path: &Path) -> Result<Pretrained> {
    Pretrained::load(path, &device(), Precision::F32)
}

/// Loads a model of which no tensor is left over.
fn load_all(path: &Path) -> Pretrained {
    let pretrained = load(path).unwrap();
    assert!(pretrained.unused.is_empty(), "{path:?}: {:?}", pretrained.unused);
    pretrained
}

fn load_gguf(name: &str) -> Pretrained {
    load_all(&file(name))
}

/// The logits after each of some tokens.
fn logits(pretrained: &Pretrained, ids: &[u32]) -> Vec<Vec<f32>> {
    pretrained.model.forward(&mut [Input::whole(ids).with_logits(Logits::All)]).unwrap()
}

fn ids(value: &serde_json::Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// A file taken apart.
fn whole(name: &str) -> Gguf {
    Gguf::parse(&std::fs::read(file(name)).unwrap())
}

fn load_bytes(bytes: &[u8]) -> Result<Pretrained> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.gguf");
    std::fs::write(&path, bytes).unwrap();
    load(&path)
}

/// Loads an edited file.
#[track_caller]
fn edited(name: &str, edit: impl FnOnce(&mut Gguf)) -> Pretrained {
    let mut file = whole(name);
    edit(&mut file);
    load_bytes(&file.to_bytes()).unwrap()
}

/// What is refused has an error that says all of `words`.
#[track_caller]
fn refused(result: Result<Pretrained>, words: &[&str]) -> Error {
    let error = result.unwrap_err();
    assert_says(&error, words);
    error
}

/// Loading fails, with one line that names the file and says all of `words`.
#[track_caller]
fn assert_refused(bytes: &[u8], words: &[&str]) -> Error {
    refused(load_bytes(bytes), &[words, &["damaged.gguf"]].concat())
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
