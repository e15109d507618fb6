//! Folders of models.

use super::*;
use crate::common::{Checkpoint, copy_of};

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

fn load_folder(folder: &Path, device: &OpenDevice) -> Result<()> {
    run(&Pretrained::load(folder, device, Precision::F32)?.model)
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
