//! Models that were split into several files, as llama.cpp's `gguf-split` does it.
//!
//! Each part is a GGUF file with some of the tensors. The first has the metadata of the model. All
//! have `split.no`, from 0 on, `split.count` and `split.tensors.count`.

use std::fmt::{self, Display, Formatter};
use std::io::ErrorKind;
use std::path::Path;

use super::cursor::MOST_HEADER;
use super::file::GgufFile;
use super::metadata::Metadata;
use super::part_name::{MOST_PARTS, PartName, ending};
use crate::checkpoint::open_file::OpenFile;
use crate::error::{Error, LoadError, Result};

/// What a file says of the model that it is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    /// Which part the file is, from 1 on.
    number: usize,
    /// How many parts there are.
    count: usize,
    /// The number of tensors in all parts.
    tensors: usize,
}

impl Split {
    pub(super) const COUNT: &str = "split.count";
    const NUMBER: &str = "split.no";
    const TENSORS: &str = "split.tensors.count";

    /// Reads the metadata of a file: none of one that is a whole model.
    pub(super) fn of(metadata: &Metadata) -> Result<Option<Self>> {
        let count = match metadata.size(Self::COUNT)? {
            None | Some(0 | 1) => return Ok(None),
            Some(count) if count > MOST_PARTS => {
                return Err(metadata.wrong(Self::COUNT, format!("at most {MOST_PARTS}")));
            }
            Some(count) => count,
        };
        let number = match metadata.size(Self::NUMBER)? {
            Some(number) if number < count => number + 1,
            _ => {
                let expected = format!("the number of a part, from 0 to {}", count - 1);
                return Err(metadata.wrong(Self::NUMBER, expected));
            }
        };
        match metadata.size(Self::TENSORS)? {
            Some(tensors) => Ok(Some(Self { number, count, tensors })),
            None => Err(metadata.wrong(Self::TENSORS, "the number of tensors in all parts")),
        }
    }
}

impl Display for Split {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { number, count, tensors } = self;
        write!(out, "part {number} of {count} with {tensors} tensors in all")
    }
}

impl GgufFile<'static> {
    /// Opens a file, and where it is a part of a model, whichever, all others beside it.
    ///
    /// # Errors
    /// A file that is missing, truncated, cannot be read, or whose header does not fit its data; a
    /// version or a tensor type that this crate does not read; a part that is missing, has another
    /// name than parts have, or is one of another model.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let Some(file) = open_part(path)? else {
            let source = ErrorKind::NotFound.into();
            return Err(LoadError::Io { path: path.to_owned(), source }.into());
        };
        match Split::of(&file.metadata)? {
            None => Ok(file),
            Some(split) => open_all(path, &file.metadata, split),
        }
    }

    /// Adds the tensors of the next part.
    fn append(&mut self, part: Self) -> Result<()> {
        // Later parts usually repeat nothing. How the data is aligned is a matter of each file.
        let own = [Split::NUMBER, "general.alignment"];
        if let Some(key) = part.metadata.difference(&self.metadata, &own) {
            let problem = format!("the metadata key {key:?} has another value");
            return Err(foreign(&part.metadata, self.origin(), problem));
        }
        let headers: u64 = self.parts.iter().chain(&part.parts).map(|part| part.data_start).sum();
        if headers > MOST_HEADER {
            let problem = format!("the headers of all parts have more than {MOST_HEADER} bytes");
            return Err(LoadError::Gguf { origin: part.origin().to_owned(), problem }.into());
        }
        let place = self.parts.len();
        for (name, mut info) in part.tensors {
            if let Some(other) = self.tensors.get(&name) {
                return Err(LoadError::TensorTwice {
                    origin: part.metadata.origin().to_owned(),
                    tensor: name,
                    other: self.parts[other.part].origin.clone(),
                }
                .into());
            }
            info.part = place;
            self.tensors.insert(name, info);
        }
        self.parts.extend(part.parts);
        Ok(())
    }
}

/// Opens a file that may be a part, or returns none where it does not exist.
fn open_part(path: &Path) -> Result<Option<GgufFile<'static>>> {
    let Some(OpenFile { origin, length, read_at }) = OpenFile::open(path)? else {
        return Ok(None);
    };
    GgufFile::read_part(length, read_at, &origin).map(Some)
}

/// Opens all parts of a model. The file at `path`, with this `metadata`, is the one that `split`
/// describes.
fn open_all(path: &Path, metadata: &Metadata, split: Split) -> Result<GgufFile<'static>> {
    let name = path.file_name().and_then(|name| PartName::parse(name.to_str()?));
    let fits = |name: &PartName| (name.number, name.count) == (split.number, split.count);
    let Some(name) = name.filter(fits) else {
        let ending = ending(split.number, split.count);
        let expected = format!("1 in a file whose name does not end in `{ending}.gguf`");
        return Err(metadata.wrong(Split::COUNT, expected));
    };
    let open = |number: usize, beside: &str| {
        let path = path.with_file_name(name.of(number));
        let part = open_part(&path)?.ok_or_else(|| LoadError::GgufPartMissing {
            origin: metadata.origin().to_owned(),
            count: split.count,
            missing: path.clone(),
        })?;
        check_split(&part.metadata, Split { number, ..split }, beside)?;
        Ok::<_, Error>(part)
    };
    let mut model = open(1, metadata.origin())?;
    for number in 2..=split.count {
        model.append(open(number, model.origin())?)?;
    }
    if model.tensors.len() == split.tensors {
        return Ok(model);
    }
    let expected = format!("{}, the number of tensors in all parts", model.tensors.len());
    Err(model.metadata.wrong(Split::TENSORS, expected))
}

/// Checks that a file is the `expected` part of a model, another part of which is `beside`.
fn check_split(metadata: &Metadata, expected: Split, beside: &str) -> Result<()> {
    let problem = match Split::of(metadata)? {
        Some(found) if found == expected => return Ok(()),
        Some(found) => format!("it says that it is {found}, not {expected}"),
        None => format!("it says that it is a whole model, not {expected}"),
    };
    Err(foreign(metadata, beside, problem))
}

fn foreign(metadata: &Metadata, beside: &str, problem: String) -> Error {
    Error::Load(LoadError::GgufPartForeign {
        origin: metadata.origin().to_owned(),
        beside: beside.to_owned(),
        problem,
    })
}
