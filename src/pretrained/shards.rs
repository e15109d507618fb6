//! The weights of a folder: one safetensors file, or several that an index lists.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error as IoError, ErrorKind};
use std::ops::Range;
use std::path::{Component, Path};

use burn::tensor::{DType, Device};
use memmap2::Mmap;
use serde::Deserialize;

use super::{not_a_model, read};
use crate::error::{Error, Result};
use crate::model::Weights;
use crate::model::safetensors::SafetensorsFile;

const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The weight files of a folder, mapped into memory: their bytes come from the disk when they
/// are looked at, and go again when what they hold was converted.
pub(super) struct Shards {
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
    map: Mmap,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Shards {
    /// Maps `model.safetensors`, or else all files that `model.safetensors.index.json` lists.
    ///
    /// # Errors
    /// No such file, an index that is damaged, that leads out of the folder, or that lists a
    /// file which is not there.
    pub(super) fn open(folder: &Path) -> Result<Self> {
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
    pub(super) fn weights(&self, device: &Device, dtype: DType) -> Result<Weights<'_>> {
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
    /// Maps a file, or returns none where it does not exist.
    fn open(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = folder.join(name);
        let io = |source| Error::Io { path: path.clone(), source };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => {}
            // To open a pipe would wait for whoever writes to it.
            Ok(_) => return Err(io(IoError::other("it is not a file"))),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        }
        let file = File::open(&path).map_err(io)?;
        // SAFETY: the map is only read. Should someone else shorten the file in the meantime,
        // the system ends this process when it looks beyond the new end; should they change
        // it, other numbers are read. Neither is worse than what reading it would bring.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        Ok(Some(Self { name: name.to_owned(), origin: format!("{path:?}"), map }))
    }

    fn parse(&self) -> Result<SafetensorsFile<'_>> {
        let file = SafetensorsFile::parse(&self.map, &self.origin)?;
        Ok(file.on_release(|range| release(&self.map, range)))
    }
}

/// Gives memory back to the system. What was released is read from the file anew if it is
/// looked at again, so this takes nothing away but time.
///
/// The system may bring in a whole huge page around each byte that is looked at. So as much is
/// released on both sides: what belongs to a neighbour comes back when it is needed.
#[cfg(unix)]
fn release(map: &Mmap, range: Range<usize>) {
    use memmap2::UncheckedAdvice::DontNeed;
    const HUGE_PAGE: usize = 2 << 20;
    let start = range.start.saturating_sub(HUGE_PAGE);
    let end = range.end.saturating_add(HUGE_PAGE).min(map.len());
    // SAFETY: the map is of a file and is never written to, so its pages come back as they
    // were.
    let outcome = unsafe { map.unchecked_advise_range(DontNeed, start, end - start) };
    // It was only an advice.
    let _ = outcome;
}

#[cfg(not(unix))]
fn release(_: &Mmap, _: Range<usize>) {}

/// Whether a name can only mean a file in the folder itself: neither `..` nor a path.
fn is_in_folder(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}
