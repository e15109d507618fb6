//! Damaged files are refused with an error, or load because the damage does no harm. They never
//! panic, and they never make the program ask for more memory than the files explain: what a
//! file holds is nothing to crash over.
//!
//! The mutations come from a fixed seed, so a failure can be repeated.

#[path = "../common/mod.rs"]
mod common;
mod folders;
mod gguf;
mod tokenizers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use burn::tensor::{DType, Device};
use common::counting::{Counting, alone, asked_by};
use common::{device, fixture, is_line};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use slowburn::Result;
use slowburn::checkpoint::Weights;
use slowburn::device::{OpenDevice, Precision};
use slowburn::model::{Input, Model, ModelConfig};
use slowburn::pretrained::Pretrained;

/// How often each part of a single file is damaged.
const MUTATIONS: usize = 1000;

/// How often a folder is damaged: 5,000 times in all, over four kinds of models.
const FOLDER_MUTATIONS: usize = 1250;

#[global_allocator]
static COUNTING: Counting = Counting;

fn read(file: &str) -> Vec<u8> {
    std::fs::read(fixture("models/llama-gqa").join(file)).unwrap()
}

/// A number below `n`.
fn below(generator: &mut ChaCha12Rng, n: usize) -> usize {
    (generator.next_u64() % n as u64) as usize
}

/// Loads a model from the bytes of both files. What loads must also run.
fn load(config: &[u8], weights: &[u8], device: &Device) -> Result<()> {
    let config = ModelConfig::from_json(config, "config.json")?;
    let weights = Weights::from_safetensors(weights, "model.safetensors", device, DType::F32)?;
    let model = Model::load(config, &weights)?;
    model.forward(&mut [Input::whole(&[2, 3])])?.remove(0);
    Ok(())
}

/// Reads some tokens, and one more.
fn run(model: &Model) -> Result<()> {
    let mut cache = model.new_cache(4).unwrap();
    model.forward(&mut [Input::after(&mut cache, &[2, 3])])?.remove(0);
    model.forward(&mut [Input::after(&mut cache, &[4])])?.remove(0);
    Ok(())
}

/// What became of many mutations.
#[derive(Default)]
struct Tally {
    loaded: usize,
    refused: usize,
}

impl Tally {
    /// Loads one mutation of files that take `bytes` together. Fails with its description if
    /// that panics, takes long, or asks for more memory at once than the files explain.
    fn attempt(&mut self, what: &str, bytes: usize, load: impl FnOnce() -> Result<()>) {
        let start = Instant::now();
        let load = || load().map_err(|error| Box::new((error.to_string(), error)));
        let (outcome, asked) = asked_by(|| catch_unwind(AssertUnwindSafe(load)));
        match outcome {
            Ok(Ok(())) => self.loaded += 1,
            Ok(Err(refusal)) => {
                let (message, error) = *refusal;
                self.refused += 1;
                assert!(is_line(&message), "{what}: {error:?}");
            }
            Err(_) => panic!("{what}: loading panicked"),
        }
        // Half precision doubles when it is loaded, and a growing list is at most doubled. A
        // tokenizer takes a cache of words, almost 6 MB, whatever the files hold.
        let explained = 2 * bytes + (6 << 20);
        let largest = asked.largest;
        assert!(largest <= explained, "{what}: {largest} bytes at once, for files of {bytes}");
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {:?}", start.elapsed());
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        println!("{} loaded, {} were refused", self.loaded, self.refused);
        if !std::thread::panicking() {
            assert!(self.refused > 0, "nothing was refused: were the files changed at all?");
        }
    }
}

/// Loads every mutation.
fn never_panics(mutations: impl Iterator<Item = (String, Vec<u8>, Vec<u8>)>) {
    let _alone = alone();
    let device = device().device;
    let mut tally = Tally::default();
    for (what, config, weights) in mutations {
        let bytes = config.len() + weights.len();
        tally.attempt(&what, bytes, || load(&config, &weights, &device));
    }
}

#[test]
fn the_files_load_when_they_are_whole() {
    let _alone = alone();
    load(&read("config.json"), &read("model.safetensors"), &device().device).unwrap();
}

#[test]
fn damaged_weights_never_panic() {
    let (config, whole) = (read("config.json"), read("model.safetensors"));
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let mut generator = ChaCha12Rng::seed_from_u64(1);
    never_panics((0..MUTATIONS).map(|round| {
        let mut bytes = whole.clone();
        let what = match round % 5 {
            0 => {
                let length = below(&mut generator, bytes.len());
                bytes.truncate(length);
                format!("cut to {length} bytes")
            }
            1 => {
                let length = below(&mut generator, header + 8);
                bytes.truncate(length);
                format!("cut to {length} bytes, near or in the header")
            }
            2 => flip(&mut bytes, 0..8, 1, &mut generator),
            3 => flip(&mut bytes, 8..header, 1 + round % 3, &mut generator),
            _ => flip(&mut bytes, header..whole.len(), 50, &mut generator),
        };
        (what, config.clone(), bytes)
    }));
}

/// Flips one bit in each of `count` bytes of a range.
fn flip(
    bytes: &mut [u8],
    range: std::ops::Range<usize>,
    count: usize,
    generator: &mut ChaCha12Rng,
) -> String {
    let mut flipped = Vec::new();
    for _ in 0..count {
        let (at, bit) = (range.start + below(generator, range.len()), below(generator, 8));
        bytes[at] ^= 1 << bit;
        flipped.push((at, bit));
    }
    format!("flipped (byte, bit) {flipped:?}")
}

/// The header is JSON, and a flipped bit mostly makes it none. So it is edited as JSON too:
/// shapes, types, offsets and names that parse but do not fit.
#[test]
fn edited_headers_never_panic() {
    let (config, whole) = (read("config.json"), read("model.safetensors"));
    let end = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&whole[8..end]).unwrap();
    let names: Vec<&String> = header.as_object().unwrap().keys().collect();
    let mut generator = ChaCha12Rng::seed_from_u64(2);
    never_panics((0..MUTATIONS).map(|round| {
        let name = names[below(&mut generator, names.len())];
        let mut edited = header.clone();
        let value = strange(&mut generator);
        let what = format!("edit {} of {name} to {value}", round % 6);
        let tensor = &mut edited[name];
        match round % 6 {
            0 => tensor["shape"] = json!([value, 64]),
            1 => tensor["shape"] = json!([64, 1]),
            2 => tensor["data_offsets"] = json!([0, value]),
            3 => {
                let types = [
                    "F64", "F16", "BF16", "I8", "U8", "BOOL", "F8_E4M3", "F4", "X",
                ];
                tensor["dtype"] = types[below(&mut generator, types.len())].into();
            }
            4 => *tensor = value,
            _ => drop(edited.as_object_mut().unwrap().remove(name)),
        }
        let text = edited.to_string();
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.extend(&whole[end..]);
        (what, config.clone(), bytes)
    }));
}

#[test]
fn damaged_configurations_never_panic() {
    let (whole, weights) = (read("config.json"), read("model.safetensors"));
    let json: Value = serde_json::from_slice(&whole).unwrap();
    let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
    let mut generator = ChaCha12Rng::seed_from_u64(3);
    never_panics((0..MUTATIONS).map(|round| {
        let mut bytes = whole.clone();
        let what = match round % 4 {
            0 => {
                let length = below(&mut generator, bytes.len());
                bytes.truncate(length);
                format!("cut to {length} bytes")
            }
            1 => {
                let all = 0..bytes.len();
                flip(&mut bytes, all, 1 + round % 3, &mut generator)
            }
            _ => {
                let field = fields[below(&mut generator, fields.len())];
                let value = strange(&mut generator);
                let mut edited = json.clone();
                edited[field] = value.clone();
                bytes = edited.to_string().into_bytes();
                format!("{field} set to {value}")
            }
        };
        (what, bytes, weights.clone())
    }));
}

/// A value somewhere inside a JSON object or list.
fn any_place<'a>(json: &'a mut Value, generator: &mut ChaCha12Rng) -> &'a mut Value {
    let n = match &json {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    // Now and then a whole object is replaced, but mostly what lies in it.
    if n == 0 || below(generator, 12) == 0 {
        return json;
    }
    let inner = match json {
        Value::Object(fields) => fields.values_mut().nth(below(generator, n)),
        Value::Array(items) => items.get_mut(below(generator, n)),
        _ => None,
    };
    any_place(inner.unwrap(), generator)
}

/// A value that no field expects.
fn strange(generator: &mut ChaCha12Rng) -> Value {
    let values = [
        json!(0),
        json!(1),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(1u64 << 60),
        json!(1u64 << 63),
        json!(u64::MAX),
        json!(1_000_000_000),
        json!(1_000_000_000_000_000_000u64),
        json!(null),
        json!(true),
        json!("silu"),
        json!("llama3"),
        json!("../config.json"),
        json!([]),
        json!([1, 2]),
        json!({}),
    ];
    values[below(generator, values.len())].clone()
}
