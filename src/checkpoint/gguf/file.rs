//! A GGUF file: its header, checked against the file's size.

use std::collections::BTreeMap;
use std::io;

use super::cursor::Cursor;
use super::metadata::Metadata;
use super::split::Split;
use super::tensor::TensorInfo;
use super::tensor_type::{TensorType, name_of_unread};
use crate::checkpoint::safetensors::ReadAt;
use crate::error::{Error, LoadError, Result};

/// What every file begins with.
const MAGIC: &[u8; 4] = b"GGUF";

/// The versions that differ in nothing that is read here. Version 1 had shorter lengths.
const VERSIONS: [u32; 2] = [2, 3];

/// `general.alignment` of files that do not say it, in bytes.
const DEFAULT_ALIGNMENT: usize = 32;

/// The most dimensions of a tensor, as in llama.cpp.
const MOST_DIMENSIONS: u32 = 4;

/// A GGUF file whose header was read, or all files that a model was split into. The data is read on
/// demand.
///
/// ```
/// use slowburn::checkpoint::gguf::GgufFile;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/gguf/llama-q8_0.gguf");
/// let file = GgufFile::open(path)?;
/// for (name, tensor) in file.tensors() {
///     println!("{name}: {:?} in {:?}", tensor.shape(), tensor.kind());
/// }
/// assert!(file.tensor("token_embd.weight").is_some());
/// # Ok::<(), slowburn::Error>(())
/// ```
pub struct GgufFile<'a> {
    /// Of the first part.
    pub(super) metadata: Metadata,
    /// Of all parts.
    pub(super) tensors: BTreeMap<String, TensorInfo>,
    pub(super) parts: Vec<Part<'a>>,
}

/// One of the files of a model, and where its data is.
pub(super) struct Part<'a> {
    /// The name of the file in errors.
    pub(super) origin: String,
    read_at: Box<ReadAt<'a>>,
    /// Where the data begins, which is the size of the header, in bytes.
    pub(super) data_start: u64,
}

impl<'a> GgufFile<'a> {
    /// Reads the header of a file of `length` bytes that is a whole model. `origin` names the file
    /// in errors.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes); a file that cannot be read.
    pub(super) fn read(length: u64, read_at: Box<ReadAt<'a>>, origin: &str) -> Result<Self> {
        let file = Self::read_part(length, read_at, origin)?;
        match Split::of(&file.metadata)? {
            None => Ok(file),
            Some(_) => Err(file.metadata.wrong(
                Split::COUNT,
                "1, a model in one file: give the path of the file, beside which the other parts \
                 are, or merge the parts",
            )),
        }
    }

    /// Reads the header of a file that may be a part of a model. Otherwise as [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_part(length: u64, read_at: Box<ReadAt<'a>>, origin: &str) -> Result<Self> {
        let mut cursor = Cursor::new(length, &*read_at, origin);
        check_version(&mut cursor, origin)?;
        let (tensor_count, entry_count) = (cursor.u64()?, cursor.u64()?);
        let metadata = Metadata::read(&mut cursor, entry_count, origin)?;
        let tensors = read_tensors(&mut cursor, tensor_count, origin)?;
        let alignment = read_alignment(&metadata)?;
        let data_start = cursor.position().next_multiple_of(alignment as u64);
        let part = Part { origin: origin.to_owned(), read_at, data_start };
        let file = Self { metadata, tensors, parts: vec![part] };
        file.check_offsets(length.saturating_sub(data_start), alignment)?;
        Ok(file)
    }

    /// Fills `to` with the bytes of a tensor from `start` on.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn read_data(
        &self,
        info: &TensorInfo,
        start: usize,
        to: &mut [u8],
    ) -> io::Result<()> {
        let part = &self.parts[info.part];
        (part.read_at)(part.data_start + info.offset + start as u64, to)
    }

    /// The name of the file in errors.
    pub(crate) fn origin(&self) -> &str {
        self.metadata.origin()
    }

    /// Whether there is a tensor of this name.
    pub(super) fn holds(&self, tensor: &str) -> bool {
        self.tensors.contains_key(tensor)
    }

    /// The shape of a tensor.
    pub(super) fn shape(&self, tensor: &str) -> Result<&[usize]> {
        match self.tensors.get(tensor) {
            Some(info) => Ok(&info.shape),
            None => Err(LoadError::TensorMissing {
                origin: self.origin().to_owned(),
                tensor: tensor.to_owned(),
            }
            .into()),
        }
    }

    /// Checks that the tensors lie in the file, at multiples of the alignment, and do not overlap.
    fn check_offsets(&self, data_length: u64, alignment: usize) -> Result<()> {
        let mut by_offset: Vec<_> = self.tensors.iter().collect();
        by_offset.sort_unstable_by_key(|(_, info)| (info.offset, info.length));
        let mut end_of_last = 0;
        for (name, info) in by_offset {
            let TensorInfo { offset, length, .. } = *info;
            let end = offset.checked_add(length as u64);
            let problem = if !offset.is_multiple_of(alignment as u64) {
                format!("begins at byte {offset} of the data, not at a multiple of {alignment}")
            } else if offset < end_of_last {
                format!("begins at byte {offset}, inside another that ends at byte {end_of_last}")
            } else if end.is_none_or(|end| end > data_length) {
                format!(
                    "takes {length} bytes from byte {offset} on, but the file has only \
                     {data_length} bytes of data"
                )
            } else {
                end_of_last = end.unwrap_or(offset);
                continue;
            };
            let (origin, tensor) = (self.origin().to_owned(), name.clone());
            return Err(LoadError::GgufTensor { origin, tensor, problem }.into());
        }
        Ok(())
    }
}

fn check_version(cursor: &mut Cursor<'_>, origin: &str) -> Result<()> {
    let magic: [u8; 4] = cursor.array()?;
    if magic != *MAGIC {
        let found = magic.escape_ascii();
        return Err(cursor.damaged(format!("it begins with \"{found}\", not with \"GGUF\"")));
    }
    let version = cursor.u32()?;
    if VERSIONS.contains(&version) {
        return Ok(());
    }
    let found = if VERSIONS.contains(&version.swap_bytes()) {
        format!("{}, big-endian", version.swap_bytes())
    } else {
        version.to_string()
    };
    Err(LoadError::GgufVersion { origin: origin.to_owned(), found }.into())
}

fn read_alignment(metadata: &Metadata) -> Result<usize> {
    const KEY: &str = "general.alignment";
    /// More than a page of memory on any system.
    const MOST: usize = 1 << 20;
    match metadata.size(KEY)?.unwrap_or(DEFAULT_ALIGNMENT) {
        alignment if alignment.is_power_of_two() && alignment <= MOST => Ok(alignment),
        _ => Err(metadata.wrong(KEY, format!("a power of two up to {MOST}"))),
    }
}

fn read_tensors(
    cursor: &mut Cursor<'_>,
    count: u64,
    origin: &str,
) -> Result<BTreeMap<String, TensorInfo>> {
    /// The length of a name, the number of dimensions, a type and an offset.
    const LEAST: u64 = 8 + 4 + 4 + 8;
    cursor.check_count(count, LEAST, "tensors")?;
    let mut tensors = BTreeMap::new();
    for _ in 0..count {
        let name = cursor.text()?;
        let info = read_tensor(cursor, &name, origin)?;
        if tensors.contains_key(&name) {
            return Err(cursor.damaged(format!("tensor {name:?} occurs twice")));
        }
        tensors.insert(name, info);
    }
    Ok(tensors)
}

fn read_tensor(cursor: &mut Cursor<'_>, name: &str, origin: &str) -> Result<TensorInfo> {
    let wrong = |problem: String| {
        Error::Load(LoadError::GgufTensor {
            origin: origin.to_owned(),
            tensor: name.to_owned(),
            problem,
        })
    };
    let dimensions = cursor.u32()?;
    if dimensions > MOST_DIMENSIONS {
        return Err(wrong(format!("has {dimensions} dimensions, more than {MOST_DIMENSIONS}")));
    }
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let size = cursor.u64()?;
        shape.push(usize::try_from(size).unwrap_or(usize::MAX));
    }
    // The file begins with the dimension that varies fastest.
    shape.reverse();
    let (id, offset) = (cursor.u32()?, cursor.u64()?);
    let Some(kind) = TensorType::from_id(id) else {
        return Err(LoadError::GgufType {
            origin: origin.to_owned(),
            tensor: name.to_owned(),
            found: name_of_unread(id),
        }
        .into());
    };
    let row = shape.last().copied().unwrap_or(1);
    if !row.is_multiple_of(kind.block_numbers()) {
        let block = kind.block_numbers();
        return Err(wrong(format!("has rows of {row} numbers, but its blocks have {block}")));
    }
    let numbers = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let blocks = numbers.map(|numbers| numbers / kind.block_numbers());
    let length = blocks.and_then(|blocks| blocks.checked_mul(kind.block_bytes()));
    match (numbers, length) {
        // The numbers are at most four bytes each once they are read.
        (Some(numbers), Some(length)) if numbers <= usize::MAX / 4 => {
            Ok(TensorInfo { kind, shape, numbers, length, part: 0, offset })
        }
        _ => Err(wrong(format!("has shape {shape:?}, more numbers than any file holds"))),
    }
}
