//! The examples as a person runs them: what they print, where, and with which exit code.

#[path = "../common/mod.rs"]
mod common;
mod constrained;
mod flags;
mod folders;
mod gpus;
mod guess_ahead;
mod kernels;
mod memory;
mod other_models;
mod output;
mod paged;
mod prompts;
mod scheduler;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::program::{Outcome, example, fail, fail_in_clap, run, succeed, succeed_in_json};
use common::{Checkpoint, bundled, copy_of, copy_with_config, device, fixture, load};
use serde_json::{Value, json};
use tempfile::TempDir;

const NAIVE: &str = "00_naive_loop";
const CACHED: &str = "05_kv_cache";

/// All that start from one prompt: they share their flags, and what they say to a wrong one.
const EXAMPLES: [&str; 7] = [
    NAIVE,
    "01_greedy",
    "02_top_k",
    "03_temperature",
    "04_top_p",
    CACHED,
    "07_streaming",
];

/// Flags that make a run short.
const SHORT: [&str; 2] = ["--max-tokens", "5"];

fn ids(report: &Value) -> Vec<u32> {
    serde_json::from_value(report["ids"].clone()).unwrap()
}

fn llama_gqa() -> PathBuf {
    fixture("models/llama-gqa")
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    std::fs::write(folder.join(file), bytes).unwrap();
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
