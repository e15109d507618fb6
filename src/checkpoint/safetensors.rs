//! The safetensors format: a header with the type, shape and offsets of each tensor, then the data.
//!
//! ```text
//! 8 bytes        the length of the header, little-endian
//! header         JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//! the rest       the numbers of all tensors, one after the other, without gaps
//! ```
//!
//! The crate `safetensors` has a parser too. This one exists because an error has to name the
//! tensor and the file at fault, and because that crate (0.8.0) adds up the sizes of a hostile
//! header without checking for overflow.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::io;
use std::ops::Range;

use burn::tensor::DType;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, LoadError, Result};

/// A safetensors file, with a header that was checked against its data.
pub struct SafetensorsFile<'a> {
    origin: String,
    tensors: BTreeMap<String, Entry>,
    data: Data<'a>,
    /// The size of the data, in bytes.
    data_length: usize,
}

/// Fills a buffer with the bytes at an offset of a file. Several threads call it at once.
pub type ReadAt<'a> = dyn Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync + 'a;

/// The location of the data.
#[derive(Clone, Copy)]
enum Data<'a> {
    Memory(&'a [u8]),
    File {
        start: usize,
        read_at: &'a ReadAt<'a>,
    },
}

impl Entry {
    /// F32, F16 or BF16, or none for any other type.
    fn dtype(&self) -> Option<DType> {
        match self.dtype.as_str() {
            "F32" => Some(DType::F32),
            "F16" => Some(DType::F16),
            "BF16" => Some(DType::BF16),
            _ => None,
        }
    }
}

/// The largest size of a header, in bytes, as in Hugging Face's own reader.
const MOST_HEADER: u64 = 100_000_000;

/// The header's entry for one tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A tensor of a file, as it is stored.
pub struct StoredTensor<'a> {
    /// The type of each number: F32, F16 or BF16, or U8 for bytes.
    pub dtype: DType,
    /// The size of the numbers, in bytes.
    pub length: usize,
    file: &'a SafetensorsFile<'a>,
    name: &'a str,
    start: usize,
}

/// A tensor of any type, with its bytes.
pub(crate) struct RawTensor {
    /// As the header names it.
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl StoredTensor<'_> {
    /// The bytes in `range`, little-endian. Those of a file are read into `buffer`.
    ///
    /// # Errors
    /// A file that cannot be read, such as one that was truncated after its header was read.
    pub fn bytes<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let range = self.start + range.start..self.start + range.end;
        let (data_start, read_at) = match self.file.data {
            Data::Memory(bytes) => return Ok(&bytes[range]),
            Data::File { start, read_at } => (start, read_at),
        };
        buffer.resize(range.len(), 0);
        read_at((data_start + range.start) as u64, buffer).map_err(|error| {
            Error::Load(LoadError::TensorOffsets {
                origin: self.file.origin.clone(),
                tensor: self.name.to_owned(),
                problem: format!("cannot be read: {error}"),
            })
        })?;
        Ok(buffer)
    }
}

impl<'a> SafetensorsFile<'a> {
    /// Reads the header of a file in memory. `origin` names the file in errors.
    ///
    /// # Errors
    /// A file that is truncated, or whose header does not fit its data.
    pub fn parse(bytes: &'a [u8], origin: &str) -> Result<Self> {
        let read_at = |start: u64, buffer: &mut [u8]| {
            buffer.copy_from_slice(&bytes[start as usize..][..buffer.len()]);
            Ok(())
        };
        let (tensors, data_start) = read_header(bytes.len() as u64, &read_at, origin)?;
        Self::new(tensors, Data::Memory(&bytes[data_start..]), bytes.len() - data_start, origin)
    }

    /// Reads the header of a file of `length` bytes. The data is read on demand. `origin` names the
    /// file in errors.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); a file that cannot be read.
    pub fn open(length: u64, read_at: &'a ReadAt<'a>, origin: &str) -> Result<Self> {
        let (tensors, start) = read_header(length, read_at, origin)?;
        let data_length = usize::try_from(length).unwrap_or(usize::MAX) - start;
        Self::new(tensors, Data::File { start, read_at }, data_length, origin)
    }

    fn new(
        tensors: BTreeMap<String, Entry>,
        data: Data<'a>,
        data_length: usize,
        origin: &str,
    ) -> Result<Self> {
        let file = Self { origin: origin.to_owned(), tensors, data, data_length };
        file.check_offsets()?;
        Ok(file)
    }

    /// The name of the file in errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The type of each tensor of numbers, and how many they are. Quantized weights count as F32, as in GGUF
    /// files.
    pub(crate) fn types(&self) -> impl Iterator<Item = (DType, usize)> {
        self.tensors.iter().filter_map(|(name, entry)| {
            let (start, end) = entry.data_offsets;
            match entry.dtype() {
                Some(dtype) => Some((dtype, (end - start) / dtype.size())),
                None if name.ends_with("weight") || name.ends_with("weight_packed") => {
                    let in_byte = if ["U8", "I32"].contains(&entry.dtype.as_str()) {
                        2
                    } else {
                        1
                    };
                    Some((DType::F32, (end - start).saturating_mul(in_byte)))
                }
                None => None,
            }
        })
    }

    /// The names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Whether there is a tensor of this name, in F16.
    pub(crate) fn is_f16(&self, name: &str) -> bool {
        self.tensors.get(name).is_some_and(|entry| entry.dtype == "F16")
    }

    /// Whether there is a tensor of this name.
    pub fn holds(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The tensor called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is not stored as F32, F16 or BF16.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        self.tensor_of(name, shape, Entry::dtype)
    }

    /// As [`tensor`](Self::tensor), of bytes (U8), such as the blocks of quantized weights.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is not stored as U8.
    pub(crate) fn bytes(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        self.tensor_of(name, shape, |entry| (entry.dtype == "U8").then_some(DType::U8))
    }

    /// The tensor called `name`, whatever its type and shape.
    ///
    /// # Errors
    /// A tensor that is missing, is of a type of unknown size, or cannot be read.
    pub(crate) fn raw(&self, name: &str) -> Result<RawTensor> {
        let Some(entry) = self.tensors.get(name) else {
            let (origin, tensor) = (self.origin.clone(), name.to_owned());
            return Err(LoadError::TensorMissing { origin, tensor }.into());
        };
        // What it is read as has the size of its own type, and is not looked at.
        let dtype = match entry.dtype.as_str() {
            "F32" | "I32" | "U32" => Some(DType::U32),
            "F16" | "BF16" => Some(DType::U16),
            "F8_E4M3" | "F8_E8M0" | "I8" | "U8" => Some(DType::U8),
            _ => None,
        };
        let stored = self.tensor_of(name, &entry.shape, |_| dtype)?;
        let mut bytes = Vec::new();
        if let Data::Memory(_) = self.data {
            bytes = stored.bytes(0..stored.length, &mut Vec::new())?.to_vec();
        } else {
            stored.bytes(0..stored.length, &mut bytes)?;
        }
        Ok(RawTensor {
            dtype: entry.dtype.clone(),
            shape: entry.shape.clone(),
            bytes,
        })
    }

    /// The name, the type, and the size in bytes of each tensor.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.tensors.iter().map(|(name, entry)| {
            let (start, end) = entry.data_offsets;
            (name.as_str(), entry.dtype.as_str(), end - start)
        })
    }

    /// The shape of a tensor.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|entry| entry.shape.as_slice())
    }

    /// The name, the type, the shape, and the size in bytes of each tensor.
    pub(crate) fn described(&self) -> impl Iterator<Item = (&str, &str, &[usize], usize)> {
        self.entries().map(|(name, dtype, length)| {
            (name, dtype, self.shape(name).unwrap_or_default(), length)
        })
    }

    fn tensor_of(
        &self,
        name: &str,
        shape: &[usize],
        dtype: impl Fn(&Entry) -> Option<DType>,
    ) -> Result<StoredTensor<'_>> {
        let (origin, tensor) = (self.origin.clone(), name.to_owned());
        let Some((name, entry)) = self.tensors.get_key_value(name) else {
            return Err(LoadError::TensorMissing { origin, tensor }.into());
        };
        if entry.shape != shape {
            let (found, expected) = (entry.shape.clone(), shape.to_vec());
            return Err(LoadError::TensorShape { origin, tensor, found, expected }.into());
        }
        let Some(dtype) = dtype(entry) else {
            let found = entry.dtype.clone();
            return Err(LoadError::TensorDType { origin, tensor, found }.into());
        };
        let (start, end) = entry.data_offsets;
        let length = end - start;
        // `check_offsets` can't know the size of a type that this crate does not read.
        let expected = shape.iter().try_fold(dtype.size(), |size, &n| size.checked_mul(n));
        if expected != Some(length) {
            let problem = format!("lies in {length} bytes, which is not what its shape takes");
            return Err(LoadError::TensorOffsets { origin, tensor, problem }.into());
        }
        Ok(StoredTensor { dtype, length, file: self, name, start })
    }

    /// Checks that the tensors follow each other without gaps, from the header to the end.
    fn check_offsets(&self) -> Result<()> {
        let mut by_offset: Vec<_> = self.tensors.iter().collect();
        by_offset.sort_unstable_by_key(|(_, entry)| entry.data_offsets);
        let mut end_of_last = 0;
        for (name, entry) in by_offset {
            let (start, end) = entry.data_offsets;
            let problem = if start < end_of_last {
                format!("begins at byte {start}, inside another that ends at byte {end_of_last}")
            } else if start > end_of_last {
                format!("begins at byte {start}, but what lies before it ends at {end_of_last}")
            } else if end < start {
                format!("ends at byte {end}, before it begins at byte {start}")
            } else if end > self.data_length {
                let length = self.data_length;
                format!("ends at byte {end}, but the file has only {length} bytes of data")
            } else {
                end_of_last = end;
                continue;
            };
            let (origin, tensor) = (self.origin.clone(), name.clone());
            return Err(LoadError::TensorOffsets { origin, tensor, problem }.into());
        }
        match self.data_length - end_of_last {
            0 => Ok(()),
            left => Err(LoadError::Safetensors {
                origin: self.origin.clone(),
                problem: format!("{left} bytes at its end belong to no tensor"),
            }
            .into()),
        }
    }
}

/// The entries of a file of `length` bytes, and the offset of its data.
fn read_header(
    length: u64,
    read_at: &ReadAt<'_>,
    origin: &str,
) -> Result<(BTreeMap<String, Entry>, usize)> {
    /// Bytes of the first field, which holds the size of the header.
    const LENGTH: u64 = 8;
    let damaged = |problem: String| {
        Error::Load(LoadError::Safetensors { origin: origin.to_owned(), problem })
    };
    let unreadable = |error: io::Error| damaged(format!("its header cannot be read: {error}"));
    let left = length
        .checked_sub(LENGTH)
        .ok_or_else(|| damaged(format!("it has {length} bytes, too few to begin with a length")))?;
    let mut header_length = [0; LENGTH as usize];
    read_at(0, &mut header_length).map_err(unreadable)?;
    let header_length = u64::from_le_bytes(header_length);
    if header_length > left {
        let problem =
            format!("its header should have {header_length} bytes, but only {left} follow");
        return Err(damaged(problem));
    }
    if header_length > MOST_HEADER {
        let problem = format!("its header has {header_length} bytes, more than {MOST_HEADER}");
        return Err(damaged(problem));
    }
    let mut header = vec![0; header_length as usize];
    read_at(LENGTH, &mut header).map_err(unreadable)?;
    let Header(tensors) = serde_json::from_slice(&header)
        .map_err(|error| damaged(format!("its header is not what was expected: {error}")))?;
    Ok((tensors, LENGTH as usize + header.len()))
}

/// All entries of a header but `__metadata__`, which describes no tensor.
struct Header(BTreeMap<String, Entry>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Header;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with an entry for each tensor")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Header, M::Error> {
        let mut tensors = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let entry = map
                .next_value::<Entry>()
                .map_err(|error| M::Error::custom(format!("tensor {name:?}: {error}")))?;
            if tensors.contains_key(&name) {
                return Err(M::Error::custom(format!("tensor {name:?} occurs twice")));
            }
            tensors.insert(name, entry);
        }
        Ok(Header(tensors))
    }
}
