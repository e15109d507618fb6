//! What the integration tests share: devices, fixtures, and comparing logits.

#![allow(dead_code)] // each test binary uses a part of it

#[cfg(feature = "flex")]
pub mod constrained;
pub mod counting;
pub mod gguf;
pub mod program;
pub mod texts;
pub mod watchdog;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde_json::{Value, json};
use slowburn::Error;
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::generate::Chosen;
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::{IncrementalDecoder, Tokenizer};

/// Every CPU device that is compiled in. Where `SLOWBURN_TEST_WGPU` is set, wgpu's and no other:
/// in software, it takes a hundred times as long as they do.
pub fn devices() -> Vec<OpenDevice> {
    if std::env::var_os("SLOWBURN_TEST_WGPU").is_some() {
        return vec![device::open(DeviceChoice::Wgpu).unwrap()];
    }
    let choices = [
        #[cfg(feature = "flex")]
        DeviceChoice::Cpu,
        #[cfg(feature = "ndarray")]
        DeviceChoice::Ndarray,
    ];
    choices.into_iter().map(|choice| device::open(choice).unwrap()).collect()
}

/// The first of [`devices`], for tests in which the device does not matter.
pub fn device() -> OpenDevice {
    devices().remove(0)
}

/// The devices whose kernels are those of `src/cube`, that are compiled in and that this machine can open.
#[cfg(feature = "cube")]
pub fn cubes() -> Vec<OpenDevice> {
    let choices = [
        #[cfg(feature = "wgpu")]
        DeviceChoice::Wgpu,
        #[cfg(feature = "cube-cpu")]
        DeviceChoice::CubeCpu,
    ];
    let opened = choices.into_iter().map(|choice: DeviceChoice| device::open(choice));
    opened
        .filter_map(|device| device.inspect_err(|error| println!("not tested: {error}")).ok())
        .collect()
}

/// A file or folder under `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The folder of the model that the crate bundles.
pub fn ember() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember")
}

/// The bundled model in f32.
pub fn bundled(device: &OpenDevice) -> Pretrained {
    Pretrained::bundled(device, Precision::F32).unwrap()
}

/// A fixture model in f32.
pub fn load(name: &str, device: &OpenDevice) -> Pretrained {
    Pretrained::load(&fixture(&format!("models/{name}")), device, Precision::F32).unwrap()
}

/// What another implementation computed for a fixture model.
pub struct Expected {
    /// Ids to start from.
    pub prompts: Vec<Vec<u32>>,
    /// The greedy ids that follow each prompt.
    pub greedy: Vec<Vec<u32>>,
    /// The logits after each token of each prompt: one row of `[vocab]` for each.
    pub logits: Vec<Vec<Vec<f32>>>,
}

/// Reads `expected.json` and `expected.safetensors` of a fixture model.
pub fn expected(name: &str) -> Expected {
    expected_in(&fixture(&format!("models/{name}")))
}

/// As [`expected`], of a folder.
pub fn expected_in(folder: &Path) -> Expected {
    let json = read_json(&folder.join("expected.json"));
    let ids = |key: &str| serde_json::from_value(json[key].clone()).unwrap();
    let prompts: Vec<Vec<u32>> = ids("prompts");
    let bytes = std::fs::read(folder.join("expected.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let logits = (0..prompts.len()).map(|i| rows(&file, &format!("logits_{i}"))).collect();
    Expected { greedy: ids("greedy"), prompts, logits }
}

/// The rows of a matrix that is stored in f32.
pub fn rows(file: &SafeTensors<'_>, name: &str) -> Vec<Vec<f32>> {
    let matrix = file.tensor(name).unwrap();
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let numbers: Vec<f32> = matrix.data().chunks_exact(4).map(number).collect();
    numbers.chunks(matrix.shape()[1]).map(<[f32]>::to_vec).collect()
}

/// A JSON file.
pub fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Changes a JSON file.
pub fn edit_json(path: &Path, edit: impl FnOnce(&mut Value)) {
    let mut json = read_json(path);
    edit(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
}

/// A copy of a model folder, with `config.json` changed. It is deleted when it is dropped.
pub fn copy_with_config(from: &Path, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = copy_of(from);
    edit_json(&copy.path().join("config.json"), change);
    copy
}

/// A copy of a folder's files. It is deleted when it is dropped.
pub fn copy_of(from: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let file = entry.unwrap();
        if file.path().is_dir() {
            continue;
        }
        let bytes = std::fs::read(file.path()).unwrap();
        // Not `fs::copy`, which copies permissions too: the original may be read-only.
        std::fs::write(copy.path().join(file.file_name()), bytes).unwrap();
    }
    copy
}

/// A safetensors file taken apart, so that it can be put together otherwise.
pub struct Checkpoint {
    /// The header: dtype, shape and `data_offsets` of each tensor.
    pub header: serde_json::Map<String, Value>,
    /// All numbers.
    pub data: Vec<u8>,
}

impl Checkpoint {
    /// Takes the bytes of a whole file.
    pub fn parse(bytes: &[u8]) -> Self {
        let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        Self {
            header: serde_json::from_slice(&bytes[8..end]).unwrap(),
            data: bytes[end..].to_vec(),
        }
    }

    /// Appends a tensor.
    pub fn add(&mut self, name: &str, dtype: &str, shape: &[usize], bytes: &[u8]) {
        let (start, end) = (self.data.len(), self.data.len() + bytes.len());
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, end]});
        self.header.insert(name.to_owned(), entry);
        self.data.extend(bytes);
    }

    /// Gives each tensor another name.
    pub fn rename(&mut self, new_name: impl Fn(&str) -> String) {
        let old = std::mem::take(&mut self.header);
        self.header = old.into_iter().map(|(name, entry)| (new_name(&name), entry)).collect();
    }

    /// Leaves out other tensors than these.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        let mut kept = Self { header: serde_json::Map::new(), data: Vec::new() };
        for (name, entry) in &self.header {
            if name != "__metadata__" && is_kept(name) {
                let shape: Vec<usize> = serde_json::from_value(entry["shape"].clone()).unwrap();
                kept.add(name, entry["dtype"].as_str().unwrap(), &shape, self.bytes(name));
            }
        }
        *self = kept;
    }

    /// The numbers of a tensor.
    pub fn bytes(&self, name: &str) -> &[u8] {
        &self.data[self.offset(name, 0)..self.offset(name, 1)]
    }

    /// Writes over the numbers of a tensor, from one of its bytes on.
    pub fn overwrite(&mut self, name: &str, from: usize, bytes: &[u8]) {
        let start = self.offset(name, 0) + from;
        self.data[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn offset(&self, name: &str, which: usize) -> usize {
        self.header[name]["data_offsets"][which].as_u64().unwrap() as usize
    }

    /// The bytes of the whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).unwrap();
        let length = (header.len() as u64).to_le_bytes();
        [&length, &header[..], &self.data].concat()
    }
}

/// Changes a safetensors file.
pub fn edit_checkpoint(path: &Path, edit: impl FnOnce(&mut Checkpoint)) {
    let mut checkpoint = Checkpoint::parse(&std::fs::read(path).unwrap());
    edit(&mut checkpoint);
    std::fs::write(path, checkpoint.to_bytes()).unwrap();
}

/// Fails where an error is more than a line, or does not say all of this.
#[track_caller]
pub fn assert_says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert!(is_line(&message), "{message:?}");
}

/// Whether a message fits a line, though it may repeat what a file says.
pub fn is_line(message: &str) -> bool {
    message.len() < 1500 && !message.contains(char::is_control)
}

/// Loads a tokenizer, and turns a text into ids and back, at once and id by id.
pub fn use_tokenizer(json: &[u8], origin: &str) -> slowburn::Result<()> {
    let tokenizer = Tokenizer::from_json(json, origin)?;
    let ids = tokenizer.encode("a word, 123 and  spaces: once upon a naïve 🍎")?;
    tokenizer.decode(&ids)?;
    for prompt in [&[][..], &ids] {
        let mut decoder = IncrementalDecoder::after(&tokenizer, prompt);
        ids.iter().try_for_each(|&id| decoder.push(id).map(drop))?;
        decoder.finish()?;
    }
    Ok(())
}

/// A callback that lets a loop run on.
pub fn go_on(_: &Chosen<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The greatest difference between two rows of logits. A NaN counts as infinitely far.
pub fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len(), "rows of different length");
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |max, d| {
        if d.is_nan() {
            f32::INFINITY
        } else {
            max.max(d)
        }
    })
}

/// Fails where two rows of logits differ by more than `tolerance`, and says by how much.
#[track_caller]
pub fn assert_close(found: &[f32], reference: &[f32], tolerance: f32, what: &str) {
    let distance = distance(found, reference);
    assert!(
        distance <= tolerance,
        "{what}: the greatest difference is {distance:e}, more than {tolerance:e}"
    );
}

/// Fails where two rows of logits differ by more than this share of the largest logit of `reference`.
#[track_caller]
pub fn assert_relatively_close(found: &[f32], reference: &[f32], share: f32, what: &str) {
    let largest = reference.iter().fold(0.0_f32, |largest, logit| largest.max(logit.abs()));
    assert_close(found, reference, share * largest, what);
}

/// The most likely token; of equals, the first.
pub fn argmax(logits: &[f32]) -> u32 {
    let better = |best: usize, id: usize| if logits[id] > logits[best] { id } else { best };
    (0..logits.len()).reduce(better).unwrap() as u32
}
