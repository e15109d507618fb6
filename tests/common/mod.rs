//! What the integration tests share: devices, fixtures, and comparing logits.

#![allow(dead_code)] // each test binary uses a part of it

#[cfg(feature = "cli")]
pub mod program;
pub mod watchdog;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use safetensors::SafeTensors;
use serde_json::Value;
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::generate::Token;
use slowburn::pretrained::Pretrained;

/// Every CPU device that is compiled in.
///
/// One test at a time opens them: while a device is tried, the panic hook of the whole process
/// is silent, and that of a test that fails must not get lost.
pub fn devices() -> Vec<OpenDevice> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap();
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

/// A file or folder under `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The folder of the model that the crate bundles.
pub fn ember() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ember")
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
    let folder = fixture(&format!("models/{name}"));
    let json = read_json(&folder.join("expected.json"));
    let ids = |key: &str| serde_json::from_value(json[key].clone()).unwrap();
    let prompts: Vec<Vec<u32>> = ids("prompts");
    let bytes = std::fs::read(folder.join("expected.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let logits = (0..prompts.len())
        .map(|i| {
            let view = file.tensor(&format!("logits_{i}")).unwrap();
            let numbers: Vec<f32> = view
                .data()
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
                .collect();
            numbers.chunks(view.shape()[1]).map(<[f32]>::to_vec).collect()
        })
        .collect();
    Expected { greedy: ids("greedy"), prompts, logits }
}

/// A JSON file.
pub fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A copy of a model folder, with `config.json` changed. It is deleted when it is dropped.
pub fn copy_with_config(from: &Path, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        // Not `fs::copy`, which copies permissions too: the original may be read-only.
        std::fs::write(copy.path().join(file), std::fs::read(from.join(file)).unwrap()).unwrap();
    }
    let path = copy.path().join("config.json");
    let mut config = read_json(&path);
    change(&mut config);
    std::fs::write(path, config.to_string()).unwrap();
    copy
}

/// A callback that lets a loop run on.
pub fn go_on(_: &Token<'_>) -> ControlFlow<()> {
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

/// The most likely token; of equals, the first.
pub fn argmax(logits: &[f32]) -> u32 {
    let better = |best: usize, id: usize| if logits[id] > logits[best] { id } else { best };
    (0..logits.len()).reduce(better).unwrap() as u32
}
