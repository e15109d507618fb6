//! The weights of a folder: one safetensors file, or several that an index lists.

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::{DType, Device};
use serde::Deserialize;

use super::Weights;
use super::folder::{not_a_model, read};
use super::open_file::OpenFile;
use super::precision::most;
use super::safetensors::SafetensorsFile;
use crate::error::{Error, LoadError, Result};
use crate::storage::Precision;

/// The weights in one file, or the index of their shards.
pub(crate) const WHOLE: &str = "model.safetensors";
pub(crate) const INDEX: &str = "model.safetensors.index.json";

/// The open weight files of a folder. Their data is read during conversion.
///
/// Files are read, not memory-mapped: the weights are copied either way, and where another program
/// truncates a mapped file, the next access ends the process (SIGBUS). A read returns an error.
pub(crate) struct Shards {
    /// The name of the checkpoint in errors.
    origin: String,
    files: Vec<Shard>,
    /// The file of each tensor, by the index. Empty where there is a single file.
    index: BTreeMap<String, String>,
}

struct Shard {
    name: String,
    file: OpenFile,
}

impl Shards {
    /// Opens `model.safetensors`, or else all files that `model.safetensors.index.json` lists.
    ///
    /// # Errors
    /// No such file; an index that is damaged, leads out of the folder, or lists a missing file.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        if let Some(file) = Shard::open(folder, WHOLE)? {
            let origin = file.file.origin.clone();
            return Ok(Self { origin, files: vec![file], index: BTreeMap::new() });
        }
        let (index, origin) = (read_index(folder)?, origin_of_index(folder));
        let mut files: Vec<Shard> = Vec::new();
        for (tensor, shard) in &index {
            if files.iter().any(|file| file.name == *shard) {
                continue;
            }
            files.push(Shard::open(folder, shard)?.ok_or_else(|| {
                let (origin, tensor, shard) = (origin.clone(), tensor.clone(), shard.clone());
                Error::Load(LoadError::ShardMissing { origin, tensor, shard })
            })?);
        }
        Ok(Self { origin, files, index })
    }

    /// The format of most numbers.
    ///
    /// # Errors
    /// A damaged file.
    pub(crate) fn precision(&self) -> Result<Precision> {
        let files = self.parsed()?;
        Ok(most(files.iter().flat_map(SafetensorsFile::types)))
    }

    /// Reads the headers of all files.
    ///
    /// # Errors
    /// A damaged file.
    pub(super) fn parsed(&self) -> Result<Vec<SafetensorsFile<'_>>> {
        self.files.iter().map(Shard::parse).collect()
    }

    /// Reads the headers of all files, and returns a source of their tensors.
    ///
    /// # Errors
    /// A damaged file, or one that lacks a tensor that the index assigns to it.
    pub(crate) fn weights(&self, device: &Device, dtype: DType) -> Result<Weights<'_>> {
        let files = self.parsed()?;
        for (tensor, shard) in &self.index {
            let place = self.files.iter().position(|file| file.name == *shard);
            if !place.is_some_and(|place| files[place].holds(tensor)) {
                return Err(LoadError::ShardLacks {
                    origin: self.origin.clone(),
                    tensor: tensor.clone(),
                    shard: shard.clone(),
                }
                .into());
            }
        }
        Weights::from_files(files, &self.origin, device, dtype)
    }
}

impl Shard {
    /// Opens a file, or returns none where it does not exist.
    fn open(folder: &Path, name: &str) -> Result<Option<Self>> {
        let file = OpenFile::open(&folder.join(name))?;
        Ok(file.map(|file| Self { name: name.to_owned(), file }))
    }

    fn parse(&self) -> Result<SafetensorsFile<'_>> {
        let OpenFile { length, read_at, origin } = &self.file;
        SafetensorsFile::open(*length, read_at, origin)
    }
}

/// The file of each tensor, as the index of a folder says.
///
/// # Errors
/// No such file; an index that is damaged, or leads out of the folder.
pub(crate) fn read_index(folder: &Path) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let json = read(folder, INDEX)?.ok_or_else(|| not_a_model(folder, WHOLE))?;
    let wrong = |source| LoadError::Json { origin: origin_of_index(folder), source };
    let Index { weight_map } = serde_json::from_slice(&json).map_err(wrong)?;
    match weight_map.iter().find(|(_, shard)| !is_in_folder(shard)) {
        None => Ok(weight_map),
        Some((tensor, shard)) => Err(LoadError::ShardOutside {
            origin: origin_of_index(folder),
            tensor: tensor.clone(),
            shard: shard.clone(),
        }
        .into()),
    }
}

fn origin_of_index(folder: &Path) -> String {
    format!("{:?}", folder.join(INDEX))
}

/// Whether a name refers to a file in the folder itself, whatever the system, and also as a part of
/// an address: neither `..` nor a path.
fn is_in_folder(name: &str) -> bool {
    /// The longest name that file systems accept, in bytes.
    const LONGEST: usize = 255;
    let is_plain = !name.starts_with('.') && !name.contains(['/', '\\', ':']);
    is_plain && (1..=LONGEST).contains(&name.len())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::device::{self, DeviceChoice};
    use crate::model::{Model, ModelConfig};

    fn copy_of(folder: &Path) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(copy.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
        copy
    }

    /// A truncated file is an error, wherever it is cut: with one file, with several, and with
    /// transposed matrices.
    #[test]
    fn weights_that_are_cut_off_while_they_are_loaded_are_an_error() {
        let device = device::open(DeviceChoice::Auto).unwrap().device;
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models");
        for name in ["llama-gqa", "qwen3", "gpt2"] {
            let model = models.join(name);
            let json = std::fs::read(model.join("config.json")).unwrap();
            let config = ModelConfig::from_json(&json, "config.json").unwrap();
            let load = |tenths: u64| {
                let folder = copy_of(&model);
                let shards = Shards::open(folder.path()).unwrap();
                let weights = shards.weights(&device, DType::F32).unwrap();
                let last = shards.files.last().unwrap();
                let file = File::options().write(true).open(folder.path().join(&last.name));
                file.unwrap().set_len(last.file.length * tenths / 10).unwrap();
                Model::load(config.clone(), &weights).map(|_| ())
            };
            load(10).unwrap();
            for tenths in [9, 5, 0] {
                let error = load(tenths).unwrap_err().to_string();
                assert!(error.contains("cannot be read"), "{name}, {tenths}: {error}");
            }
        }
    }
}
