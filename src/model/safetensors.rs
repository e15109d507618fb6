//! The file format of weights: a header that says what lies where, then the numbers.
//!
//! ```text
//! 8 bytes        the length of the header, little-endian
//! header         JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//! the rest       the numbers of all tensors, one after the other, without gaps
//! ```
//!
//! The crate `safetensors` reads this too. Here it is read once more because an error has to
//! say which tensor of which file is wrong, and because that crate (0.8.0) adds up the sizes
//! of a hostile header without looking for an overflow.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::ops::Range;

use burn::tensor::DType;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};

/// A safetensors file in memory, whose header was read and found to fit its data.
pub struct SafetensorsFile<'a> {
    origin: String,
    tensors: BTreeMap<String, Entry>,
    data: &'a [u8],
    /// Where the data begins in the file.
    data_start: usize,
    release: Option<Box<dyn Fn(Range<usize>) + 'a>>,
}

/// What the header says of one tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A tensor of a file: its numbers as they are stored.
pub struct StoredTensor<'a> {
    /// How each number is stored: F32, F16 or BF16.
    pub dtype: DType,
    /// All numbers, little-endian.
    pub data: &'a [u8],
    start_in_file: usize,
    release: Option<&'a (dyn Fn(Range<usize>) + 'a)>,
}

impl StoredTensor<'_> {
    /// Says that this part of `data` will not be read again.
    pub fn release(&self, range: Range<usize>) {
        if let Some(release) = self.release {
            release(self.start_in_file + range.start..self.start_in_file + range.end);
        }
    }
}

impl<'a> SafetensorsFile<'a> {
    /// Reads the header of a file that lies in `bytes`. `origin` names the file in errors.
    ///
    /// # Errors
    /// A file that is truncated, or whose header does not fit its data.
    pub fn parse(bytes: &'a [u8], origin: &str) -> Result<Self> {
        let damaged = |problem: String| Error::Safetensors { origin: origin.to_owned(), problem };
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| {
            damaged(format!("it has {} bytes, too few to begin with a length", bytes.len()))
        })?;
        let length = u64::from_le_bytes(*length);
        let header = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let header = header.ok_or_else(|| {
            let left = rest.len();
            damaged(format!("its header should have {length} bytes, but only {left} follow"))
        })?;
        let Header(tensors) = serde_json::from_slice(header)
            .map_err(|error| damaged(format!("its header is not what was expected: {error}")))?;
        let file = Self {
            origin: origin.to_owned(),
            tensors,
            data: &rest[header.len()..],
            data_start: bytes.len() - rest.len() + header.len(),
            release: None,
        };
        file.check_offsets()?;
        Ok(file)
    }

    /// Calls `release` with each part of the file, in bytes, that will not be read again.
    pub fn on_release(mut self, release: impl Fn(Range<usize>) + 'a) -> Self {
        self.release = Some(Box::new(release));
        self
    }

    /// What to call the file in errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// How many bytes the numbers of all tensors take.
    pub fn data_length(&self) -> usize {
        self.data.len()
    }

    /// The names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
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
        let (origin, tensor) = (self.origin.clone(), name.to_owned());
        let Some(entry) = self.tensors.get(name) else {
            return Err(Error::TensorMissing { origin, tensor });
        };
        if entry.shape != shape {
            let (found, expected) = (entry.shape.clone(), shape.to_vec());
            return Err(Error::TensorShape { origin, tensor, found, expected });
        }
        let dtype = match entry.dtype.as_str() {
            "F32" => DType::F32,
            "F16" => DType::F16,
            "BF16" => DType::BF16,
            other => {
                let found = other.to_owned();
                return Err(Error::TensorDType { origin, tensor, found });
            }
        };
        let (start, end) = entry.data_offsets;
        let data = &self.data[start..end];
        // `check_offsets` can't know the size of a type that this crate does not read.
        let expected = shape.iter().try_fold(dtype.size(), |size, &n| size.checked_mul(n));
        if expected != Some(data.len()) {
            let found = data.len();
            let problem = format!("lies in {found} bytes, which is not what its shape takes");
            return Err(Error::TensorOffsets { origin, tensor, problem });
        }
        Ok(StoredTensor {
            dtype,
            data,
            start_in_file: self.data_start + start,
            release: self.release.as_deref(),
        })
    }

    /// Tensors lie one after the other, without gaps, from the header to the end.
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
            } else if end > self.data.len() {
                let length = self.data.len();
                format!("ends at byte {end}, but the file has only {length} bytes of data")
            } else {
                end_of_last = end;
                continue;
            };
            let (origin, tensor) = (self.origin.clone(), name.clone());
            return Err(Error::TensorOffsets { origin, tensor, problem });
        }
        match self.data.len() - end_of_last {
            0 => Ok(()),
            left => Err(Error::Safetensors {
                origin: self.origin.clone(),
                problem: format!("{left} bytes at its end belong to no tensor"),
            }),
        }
    }
}

/// All entries of a header but `__metadata__`, which says nothing of the numbers.
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
