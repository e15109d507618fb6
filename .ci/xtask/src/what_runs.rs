//! `cargo xtask what-runs`: a Markdown table of the families and the formats of their weights, each with how far its
//! fixture is from what another program computed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;
use slowburn::checkpoint::gguf::{GgufFile, Value};
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;

use crate::parity::{Reference, farthest, model_folders};

#[derive(Args)]
pub struct WhatRunsArgs {
    /// Only the fixture of this name
    name: Option<String>,
    /// The folder of the fixtures
    #[arg(long, default_value = "tests/fixtures")]
    fixtures: PathBuf,
}

/// What `config.json` says of a folder.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    dtype: String,
    quantization_config: Option<Quantization>,
    transformers_version: String,
}

#[derive(Deserialize)]
struct Quantization {
    quant_method: String,
}

/// What llama.cpp computed for a prompt.
#[derive(Deserialize)]
struct Run {
    prompt: Vec<u32>,
    /// At the last position.
    logits: Vec<f32>,
}

/// The version of llama-cpp-python that computed them: see `tests/fixtures/README.md`.
const LLAMA_CPP: &str = "llama.cpp (llama-cpp-python 0.3.36)";

pub fn run(args: &WhatRunsArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let is_wanted = |name: &str| args.name.as_deref().is_none_or(|only| only == name);
    let mut count = 0;
    println!("| family | fixture | format | compared with | largest difference |");
    println!("|---|---|---|---|--:|");
    for kind in ["models", "quantized"] {
        for folder in model_folders(&args.fixtures.join(kind))? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if is_wanted(&name) {
                println!("{}", row_of_folder(&folder, &name, &device)?);
                count += 1;
            }
        }
    }
    let gguf = args.fixtures.join("gguf");
    let json = std::fs::read(gguf.join("llama_cpp.json"))?;
    let runs: BTreeMap<String, Vec<Run>> = serde_json::from_slice(&json)?;
    for (name, runs) in &runs {
        let file = format!("{name}.gguf");
        if is_wanted(&file) {
            println!("{}", row_of_file(&gguf.join(&file), &file, runs, &device)?);
            count += 1;
        }
    }
    ensure!(count > 0, "no fixture in {} has this name", args.fixtures.display());
    Ok(())
}

/// The row of a folder of Hugging Face, in every way to read a prompt.
fn row_of_folder(folder: &Path, name: &str, device: &OpenDevice) -> Result<String> {
    let json = std::fs::read(folder.join("config.json"))?;
    let config: Config = serde_json::from_slice(&json).with_context(|| name.to_owned())?;
    let pretrained = Pretrained::load(folder, device, Precision::F32)?;
    let row = Reference::read(folder)?.compare(&pretrained.model)?;
    ensure!(row.same == row.tokens, "{name}: the greedy tokens differ from the reference");
    let format = config.quantization_config.map_or(config.dtype, |by| by.quant_method);
    let (family, version) = (config.model_type, config.transformers_version);
    let largest = row.chunked.into_iter().fold(row.naive.max(row.cached), f32::max);
    Ok(format!(
        "| `{family}` | `{name}` | {format} | transformers {version} | {largest:.1e} |"
    ))
}

/// The row of a GGUF file, at the last position of each prompt.
fn row_of_file(path: &Path, name: &str, runs: &[Run], device: &OpenDevice) -> Result<String> {
    let pretrained = Pretrained::load(path, device, Precision::F32)?;
    let mut largest = 0.0_f32;
    for run in runs {
        let found = pretrained.model.forward(&mut [Input::whole(&run.prompt)])?;
        largest = largest.max(farthest(&found, std::slice::from_ref(&run.logits)));
    }
    let file = GgufFile::open(path)?;
    let Some(Value::Text(family)) = file.value("general.architecture") else {
        bail!("{name} names no architecture");
    };
    let types: BTreeSet<_> = file.tensors().map(|(_, tensor)| tensor.kind().to_string()).collect();
    let types = match types.len() {
        1..=2 => types.into_iter().collect::<Vec<_>>().join(", "),
        many => format!("{many} types"),
    };
    Ok(format!(
        "| `{family}` | `{name}` | GGUF: {types} | {LLAMA_CPP} | {largest:.1e} |"
    ))
}
