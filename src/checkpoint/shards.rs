//! The weights of a folder: one safetensors file, or several that an index lists.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use burn::tensor::{DType, Device};
use serde::Deserialize;

use super::Weights;
use super::folder::{not_a_model, read};
use super::safetensors::{ReadAt, SafetensorsFile};
use crate::error::{Error, Result};
use crate::files;

const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The weight files of a folder, open: their numbers are read when they are converted.
///
/// They are read and not mapped into memory. The numbers are copied to where they are computed
/// with either way, and the system ends a program (SIGBUS) that looks at a part of a map which
/// another one has cut off its file. Where a file is read, that is an error.
pub(crate) struct Shards {
    /// What to call the whole in errors.
    origin: String,
    files: Vec<Shard>,
    /// In which of the files an index puts each tensor. Without an index there is one file.
    index: BTreeMap<String, String>,
}

struct Shard {
    name: String,
    /// What to call it in errors.
    origin: String,
    length: u64,
    read_at: Box<ReadAt<'static>>,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Shards {
    /// Opens `model.safetensors`, or else all files that `model.safetensors.index.json` lists.
    ///
    /// # Errors
    /// No such file, an index that is damaged, that leads out of the folder, or that lists a
    /// file which is not there.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        if let Some(file) = Shard::open(folder, WHOLE)? {
            let origin = file.origin.clone();
            return Ok(Self { origin, files: vec![file], index: BTreeMap::new() });
        }
        let json = read(folder, INDEX)?.ok_or_else(|| not_a_model(folder, WHOLE))?;
        let origin = format!("{:?}", folder.join(INDEX));
        let Index { weight_map } = serde_json::from_slice(&json)
            .map_err(|source| Error::Json { origin: origin.clone(), source })?;

        let mut files: Vec<Shard> = Vec::new();
        for (tensor, shard) in &weight_map {
            if files.iter().any(|file| file.name == *shard) {
                continue;
            }
            let names = || (origin.clone(), tensor.clone(), shard.clone());
            if !is_in_folder(shard) {
                let (origin, tensor, shard) = names();
                return Err(Error::ShardOutside { origin, tensor, shard });
            }
            files.push(Shard::open(folder, shard)?.ok_or_else(|| {
                let (origin, tensor, shard) = names();
                Error::ShardMissing { origin, tensor, shard }
            })?);
        }
        Ok(Self { origin, files, index: weight_map })
    }

    /// Reads the headers of all files and hands out their tensors.
    ///
    /// # Errors
    /// A file that is damaged, or that does not hold what the index puts there.
    pub(crate) fn weights(&self, device: &Device, dtype: DType) -> Result<Weights<'_>> {
        let parse = |shard| Shard::parse(shard);
        let files = self.files.iter().map(parse).collect::<Result<Vec<_>>>()?;
        for (tensor, shard) in &self.index {
            let place = self.files.iter().position(|file| file.name == *shard);
            if !place.is_some_and(|place| files[place].holds(tensor)) {
                return Err(Error::ShardLacks {
                    origin: self.origin.clone(),
                    tensor: tensor.clone(),
                    shard: shard.clone(),
                });
            }
        }
        Weights::from_files(files, &self.origin, device, dtype)
    }
}

impl Shard {
    /// Opens a file, or returns none where it does not exist.
    fn open(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = folder.join(name);
        let Some(file) = files::open(&path)? else {
            return Ok(None);
        };
        let length = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(source) => return Err(Error::Io { path, source }),
        };
        Ok(Some(Self {
            name: name.to_owned(),
            origin: format!("{path:?}"),
            length,
            read_at: Box::new(files::reader(file)),
        }))
    }

    fn parse(&self) -> Result<SafetensorsFile<'_>> {
        SafetensorsFile::open(self.length, &self.read_at, &self.origin)
    }
}

/// Whether a name can only mean a file in the folder itself: neither `..` nor a path.
fn is_in_folder(name: &str) -> bool {
    /// No file system takes a longer one.
    const LONGEST: usize = 255;
    if name.len() > LONGEST {
        return false;
    }
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
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

    /// A file that another program shortens is an error, wherever it is cut. In one file, in
    /// several, and where matrices are turned.
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
                file.unwrap().set_len(last.length * tenths / 10).unwrap();
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
