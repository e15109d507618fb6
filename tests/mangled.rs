//! Damaged files are refused with an error, or load because the damage does no harm. They never
//! panic, and they never make the program ask for more memory than the files explain: what a
//! file holds is nothing to crash over.
//!
//! The mutations come from a fixed seed, so a failure can be repeated.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use burn::tensor::{DType, Device};
use common::gguf::{Gguf, Meta};
use common::{Checkpoint, copy_of, device, fixture};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use slowburn::Result;
use slowburn::checkpoint::Weights;
use slowburn::device::{OpenDevice, Precision};
use slowburn::model::Input;
use slowburn::model::{Model, ModelConfig};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::{IncrementalDecoder, Tokenizer};

/// How often each part of a single file is damaged.
const MUTATIONS: usize = 1000;

/// How often a folder is damaged: 5,000 times in all, over four kinds of models.
const FOLDER_MUTATIONS: usize = 1250;

/// The system's allocator, which remembers the largest piece that was asked for.
struct Watching;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        LARGEST.fetch_max(new_size, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

/// Memory belongs to the whole process, so only one test may run at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

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
        LARGEST.store(0, Ordering::Relaxed);
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(())) => self.loaded += 1,
            Ok(Err(error)) => {
                self.refused += 1;
                let message = error.to_string();
                let is_line = message.len() < 1500 && !message.contains(char::is_control);
                assert!(is_line, "{what}: {error:?}");
            }
            Err(_) => panic!("{what}: loading panicked"),
        }
        let largest = LARGEST.load(Ordering::Relaxed);
        // Half precision doubles when it is loaded, and a growing list is at most doubled. A
        // tokenizer takes a cache of words, almost 6 MB, whatever the files hold.
        let explained = 2 * bytes + (6 << 20);
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

/// One file after the other of a whole folder is damaged: the config, the index, and each of the
/// weight files.
#[test]
fn damaged_folders_never_panic() {
    let _alone = alone();
    let device = device();
    for (seed, name) in ["qwen3", "gpt2", "llama3-scaled", "qwen2"].into_iter().enumerate() {
        let whole = fixture(&format!("models/{name}"));
        let copy = copy_of(&whole);
        let files = [
            "expected.json",
            "expected.safetensors",
            "generation_config.json",
        ];
        files.iter().for_each(|file| std::fs::remove_file(copy.path().join(file)).unwrap());
        let mut files: Vec<String> = std::fs::read_dir(copy.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let size = |file: &String| std::fs::metadata(whole.join(file)).unwrap().len() as usize;
        let bytes: usize = files.iter().map(size).sum();
        files.retain(|file| file != "tokenizer.json");

        let mut generator = ChaCha12Rng::seed_from_u64(10 + seed as u64);
        let mut tally = Tally::default();
        for round in 0..FOLDER_MUTATIONS {
            let file = &files[round % files.len()];
            let original = std::fs::read(whole.join(file)).unwrap();
            let (what, damaged) = if file.ends_with(".json") {
                damage_json(&original, &mut generator)
            } else {
                damage_weights(&original, &mut generator)
            };
            let what = format!("{name}, round {round}, {file} {what}");
            let path = copy.path().join(file);
            std::fs::write(&path, &damaged).unwrap();
            tally.attempt(&what, bytes, || load_folder(copy.path(), &device));
            std::fs::write(&path, &original).unwrap();
        }
        load_folder(copy.path(), &device).unwrap();
    }
}

/// A tokenizer that loads must also be able to turn a text into ids and back, or say why not.
fn use_tokenizer(json: &[u8]) -> Result<()> {
    let tokenizer = Tokenizer::from_json(json, "tokenizer.json")?;
    let ids = tokenizer.encode("Once upon a time, 123 naïve 🍎")?;
    tokenizer.decode(&ids)?;
    let mut decoder = IncrementalDecoder::after(&tokenizer, &ids);
    ids.iter().try_for_each(|&id| decoder.push(id).map(drop))?;
    decoder.finish()?;
    Ok(())
}

/// Cut, with flipped bits, or with a strange value in the place of another.
#[test]
fn damaged_tokenizers_never_panic() {
    let _alone = alone();
    for (seed, name) in ["byte-level", "sentencepiece"].into_iter().enumerate() {
        let whole = std::fs::read(fixture(&format!("tokenizers/{name}/tokenizer.json"))).unwrap();
        use_tokenizer(&whole).unwrap();
        let json: Value = serde_json::from_slice(&whole).unwrap();
        let mut parts = json.clone();
        // All but the long lists, so that most of what is damaged is something else.
        let model = parts["model"].as_object_mut().unwrap();
        let lists = ["vocab", "merges"].map(|list| (list, model.remove(list).unwrap()));
        let compact = parts.to_string();

        let mut generator = ChaCha12Rng::seed_from_u64(20 + seed as u64);
        let mut tally = Tally::default();
        // Everywhere in the parts, and here and there in the whole.
        for length in 0..compact.len() {
            let cut = &compact.as_bytes()[..length];
            tally.attempt(&format!("{name} cut to {length}"), whole.len(), || use_tokenizer(cut));
        }
        for round in 0..MUTATIONS {
            let (what, damaged) = match round % 4 {
                0 => {
                    let length = below(&mut generator, whole.len());
                    (format!("cut to {length} bytes"), whole[..length].to_vec())
                }
                1 => {
                    let mut bytes = whole.clone();
                    let what = flip(&mut bytes, 0..whole.len(), 1 + round % 3, &mut generator);
                    (what, bytes)
                }
                _ => {
                    let mut edited = parts.clone();
                    let value = strange(&mut generator);
                    let place = any_place(&mut edited, &mut generator);
                    let what = format!("has {value} instead of {place}");
                    *place = value;
                    if let Some(Value::Object(model)) = edited.get_mut("model") {
                        model.extend(lists.iter().map(|(k, v)| (k.to_string(), v.clone())));
                    }
                    (what, edited.to_string().into_bytes())
                }
            };
            let what = format!("{name}, round {round}, {what}");
            tally.attempt(&what, whole.len(), || use_tokenizer(&damaged));
        }
    }
}

/// A GGUF file is cut, or has bits flipped, numbers replaced by huge ones, or values and tensors
/// that parse but do not fit: 5,000 times in all, over four files.
#[test]
fn damaged_gguf_files_never_panic() {
    let _alone = alone();
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.gguf");
    for (seed, name) in ["llama3", "mixed", "gpt2", "spm"].into_iter().enumerate() {
        let whole = std::fs::read(fixture(&format!("gguf/{name}.gguf"))).unwrap();
        let parts = Gguf::parse(&whole);
        let mut generator = ChaCha12Rng::seed_from_u64(30 + seed as u64);
        let mut tally = Tally::default();
        for round in 0..FOLDER_MUTATIONS {
            let (what, damaged) = damage_gguf(&whole, &parts, round, &mut generator);
            let what = format!("{name}, round {round}, {what}");
            std::fs::write(&path, &damaged).unwrap();
            tally.attempt(&what, whole.len(), || load_gguf(&path, &device));
        }
        std::fs::write(&path, &whole).unwrap();
        load_gguf(&path, &device).unwrap();
    }
}

fn load_gguf(path: &Path, device: &OpenDevice) -> Result<()> {
    let Pretrained { model, tokenizer, .. } = Pretrained::load(path, device, Precision::F32)?;
    let ids = tokenizer.encode("Once upon a time, 123 naïve 🍎")?;
    tokenizer.decode(&ids)?;
    let mut cache = model.new_cache(4).unwrap();
    model.forward(&mut [Input::after(&mut cache, &[2, 3])])?.remove(0);
    model.forward(&mut [Input::after(&mut cache, &[4])])?.remove(0);
    Ok(())
}

fn damage_gguf(
    whole: &[u8],
    parts: &Gguf,
    round: usize,
    generator: &mut ChaCha12Rng,
) -> (String, Vec<u8>) {
    let header = parts.header().len();
    let mut bytes = whole.to_vec();
    let what = match round % 8 {
        0 => {
            bytes.truncate(below(generator, whole.len()));
            format!("cut to {} bytes", bytes.len())
        }
        1 => {
            bytes.truncate(below(generator, header));
            format!("cut to {} bytes, in the header", bytes.len())
        }
        2 => flip(&mut bytes, 0..32, 1, generator),
        3 => flip(&mut bytes, 0..header, 1 + round % 3, generator),
        4 => flip(&mut bytes, header..whole.len(), 50, generator),
        5 => {
            let at = below(generator, header - 8);
            let huge = huge(generator);
            bytes[at..at + 8].copy_from_slice(&huge.to_le_bytes());
            format!("byte {at} and the next 7 set to {huge}")
        }
        6 => {
            let mut edited = parts.clone();
            let place = below(generator, edited.metadata.len());
            let (key, value) = &mut edited.metadata[place];
            let what = format!("{key} is another");
            *value = strange_value(generator);
            bytes = edited.to_bytes();
            what
        }
        _ => {
            let mut edited = parts.clone();
            let place = below(generator, edited.tensors.len());
            let info = &mut edited.tensors[place];
            let what = format!("{} is another", info.name);
            match below(generator, 4) {
                0 => info.kind = below(generator, 42) as u32,
                1 => info.offset = huge(generator) & !31,
                2 => info.shape = vec![huge(generator); 1 + below(generator, 4)],
                _ => info.shape.reverse(),
            }
            bytes = edited.to_bytes();
            what
        }
    };
    (what, bytes)
}

fn huge(generator: &mut ChaCha12Rng) -> u64 {
    let numbers = [
        0,
        1,
        1 << 20,
        1 << 31,
        1 << 32,
        1 << 40,
        1 << 62,
        1 << 63,
        u64::MAX,
    ];
    numbers[below(generator, numbers.len())]
}

/// A value of the metadata that no key expects.
fn strange_value(generator: &mut ChaCha12Rng) -> Meta {
    match below(generator, 10) {
        0 => Meta::U32(below(generator, 400) as u32),
        1 => Meta::U32(u32::MAX),
        2 => Meta::F32(f32::NAN),
        3 => Meta::F32(1e30),
        4 => Meta::Bool(true),
        5 => Meta::Text("llama".to_owned()),
        6 => Meta::Texts(vec![String::new(); below(generator, 400)]),
        7 => Meta::Integers(vec![4; below(generator, 400)]),
        8 => Meta::Floats(vec![f32::NAN; 480]),
        _ => Meta::Texts((0..400).map(|i| "a ".repeat(i)).collect()),
    }
}

fn load_folder(folder: &Path, device: &OpenDevice) -> Result<()> {
    let Pretrained { model, .. } = Pretrained::load(folder, device, Precision::F32)?;
    let mut cache = model.new_cache(4).unwrap();
    model.forward(&mut [Input::after(&mut cache, &[2, 3])])?.remove(0);
    model.forward(&mut [Input::after(&mut cache, &[4])])?.remove(0);
    Ok(())
}

fn damage_json(original: &[u8], generator: &mut ChaCha12Rng) -> (String, Vec<u8>) {
    let mut bytes = original.to_vec();
    match below(generator, 6) {
        0 => {
            bytes.truncate(below(generator, original.len()));
            (format!("cut to {} bytes", bytes.len()), bytes)
        }
        1 => {
            let what = flip(&mut bytes, 0..original.len(), 2, generator);
            (what, bytes)
        }
        _ => {
            let mut json: Value = serde_json::from_slice(original).unwrap();
            let value = strange(generator);
            let place = any_place(&mut json, generator);
            let what = format!("has {value} instead of {place}");
            *place = value;
            (what, json.to_string().into_bytes())
        }
    }
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

fn damage_weights(original: &[u8], generator: &mut ChaCha12Rng) -> (String, Vec<u8>) {
    let mut bytes = original.to_vec();
    let header = 8 + u64::from_le_bytes(original[..8].try_into().unwrap()) as usize;
    match below(generator, 6) {
        0 => {
            bytes.truncate(below(generator, original.len()));
            (format!("cut to {} bytes", bytes.len()), bytes)
        }
        1 => {
            let what = flip(&mut bytes, 0..8, 1, generator);
            (what, bytes)
        }
        2 => {
            let what = flip(&mut bytes, 8..header, 2, generator);
            (what, bytes)
        }
        3 => {
            let what = flip(&mut bytes, header..original.len(), 50, generator);
            (what, bytes)
        }
        _ => {
            let mut checkpoint = Checkpoint::parse(original);
            let value = strange(generator);
            let mut header = Value::Object(std::mem::take(&mut checkpoint.header));
            let place = any_place(&mut header, generator);
            let what = format!("has {value} instead of {place}");
            *place = value;
            if let Value::Object(header) = header {
                checkpoint.header = header;
            }
            (what, checkpoint.to_bytes())
        }
    }
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
