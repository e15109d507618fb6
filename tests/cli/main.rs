//! The examples as a person runs them: what they print, where, and with which exit code.

#[path = "../common/mod.rs"]
mod common;
mod constrained;
mod flags;
mod folders;
#[path = "../common/foreign_words.rs"]
mod foreign_words;
mod gpus;
mod guess_ahead;
mod kernels;
mod many;
mod memory;
mod other_models;
mod output;
mod paged;
mod prompts;
mod scheduler;
mod teaching;
#[cfg(target_os = "linux")]
mod terminal;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::program::{Outcome, example, fail, fail_in_clap, run, succeed, succeed_in_json};
use common::{
    bundled, copy_of, copy_with_config, device, edit_checkpoint, edit_json, fixture, load,
};
use foreign_words::assert_in_words;
use serde_json::{Value, json};
use tempfile::TempDir;

const NAIVE: &str = "00_naive_loop";
const CACHED: &str = "05_kv_cache";
const BATCHING: &str = "06_batching";
const STREAMING: &str = "07_streaming";

/// All that start from one prompt: they share their flags, and what they say to a wrong one.
const EXAMPLES: [&str; 7] = [
    NAIVE,
    "01_greedy",
    "02_top_k",
    "03_temperature",
    "04_top_p",
    CACHED,
    STREAMING,
];

/// All that take flags, but for the server, whose flags `cli/tests` tries.
const NUMBERED: [&str; 16] = [
    NAIVE,
    "01_greedy",
    "02_top_k",
    "03_temperature",
    "04_top_p",
    CACHED,
    BATCHING,
    STREAMING,
    "08_scheduler",
    "09_paged_kv",
    "10_kernels",
    "11_gpus",
    "12_quantized",
    "13_guess_ahead",
    "14_other_models",
    "15_constrained",
];

/// Flags that make a run short.
const SHORT: [&str; 2] = ["--max-tokens", "5"];

fn ids(report: &Value) -> Vec<u32> {
    serde_json::from_value(report["ids"].clone()).unwrap()
}

fn prompt_ids(report: &Value) -> Vec<u32> {
    serde_json::from_value(report["prompt_ids"].clone()).unwrap()
}

/// The objects of a run that prints one a line.
fn lines(name: &str, args: &[&str]) -> Vec<Value> {
    let stdout = succeed(name, &[args, &["--json"]].concat());
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn llama_gqa() -> PathBuf {
    fixture("models/llama-gqa")
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    std::fs::write(folder.join(file), bytes).unwrap();
}

/// A model of the fixtures with a tensor more.
fn with_tensor(name: &str) -> TempDir {
    let folder = copy_of(&llama_gqa());
    edit_checkpoint(&folder.path().join("model.safetensors"), |checkpoint| {
        checkpoint.add(name, "F32", &[2], &[0; 8]);
    });
    folder
}

/// Gives the weights of a folder an embedding of so many rows, in a file that takes no more room on the
/// disk: in a hole, which reads as zeros. Returns the bytes of all weights.
#[cfg(target_os = "linux")]
fn embed_in_a_hole(folder: &Path, rows: u64) -> u64 {
    let path = folder.join("model.safetensors");
    let (bytes, mut end) = (rows * 64 * 4, 0);
    edit_checkpoint(&path, |checkpoint| {
        end = checkpoint.data.len() as u64;
        let large =
            json!({"dtype": "F32", "shape": [rows, 64], "data_offsets": [end, end + bytes]});
        let small = checkpoint.header.insert("model.embed_tokens.weight".to_owned(), large);
        // No byte may belong to nothing.
        checkpoint.header.insert("surplus".to_owned(), small.unwrap());
    });
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() + bytes).unwrap();
    bytes + end
}

/// A model of the fixtures with a chat template.
fn chat_model(template: &str) -> TempDir {
    let folder = copy_with_config(&llama_gqa(), |_| {});
    let config = json!({
        "bos_token": {"content": "<s>"},
        "eos_token": "</s>",
        "add_bos_token": true,
        "chat_template": template,
    });
    write(folder.path(), "tokenizer_config.json", config.to_string().as_bytes());
    folder
}
