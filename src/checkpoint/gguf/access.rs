//! What a file holds, for other programs than this crate.

use std::io::ErrorKind;

use burn::tensor::TensorData;

use super::file::GgufFile;
use super::metadata::Value;
use super::tensor::{Order, StoredTensor, TensorInfo};
use crate::checkpoint::precision::most;
use crate::error::{LoadError, Result};
use crate::memory;
use crate::storage::Precision;

impl<'a> GgufFile<'a> {
    /// Reads the header of a file in memory. `origin` names the file in errors.
    ///
    /// # Errors
    /// A file that is truncated, or whose header does not fit its data; a version or a tensor type
    /// that this crate does not read; one part of a model in several files.
    pub fn from_bytes(bytes: &'a [u8], origin: &str) -> Result<Self> {
        let read_at = |offset: u64, buffer: &mut [u8]| {
            let start = usize::try_from(offset).ok();
            let part = start.and_then(|start| bytes.get(start..)?.get(..buffer.len()));
            buffer.copy_from_slice(part.ok_or(ErrorKind::UnexpectedEof)?);
            Ok(())
        };
        Self::read(bytes.len() as u64, Box::new(read_at), origin)
    }

    /// The keys and values of the metadata, by name.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.metadata.entries()
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// The names and types of the tensors, by name.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// The format of most numbers. Those in blocks count as f32, which they become where they are not
    /// kept.
    pub(crate) fn precision(&self) -> Precision {
        most(self.tensors.values().map(|info| (info.kind.dtype(), info.numbers)))
    }

    /// The type and the shape of a tensor.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// Reads the numbers of a tensor, with the [`shape`](TensorInfo::shape) of the tensor: in F32,
    /// F16 or BF16 as they are stored, and quantized ones in F32.
    ///
    /// The rows are in the order of the file. In files of the architecture `llama`, those of each
    /// head of `attn_q` and `attn_k` are in another order than in a Hugging Face checkpoint;
    /// [`Weights::from_gguf`](crate::checkpoint::Weights::from_gguf) puts them into that one.
    ///
    /// # Errors
    /// A tensor that is missing, or that does not fit into memory; a file that cannot be read, such
    /// as one that was truncated after its header was read.
    pub fn data(&self, name: &str) -> Result<TensorData> {
        let origin = || self.origin().to_owned();
        let Some((name, info)) = self.tensors.get_key_value(name) else {
            return Err(
                LoadError::TensorMissing { origin: origin(), tensor: name.to_owned() }.into()
            );
        };
        let stored = StoredTensor { file: self, name, info, order: Order::Same };
        let bytes = stored.length() as u128;
        if !memory::fits(bytes) {
            return Err(LoadError::WeightsTooLarge { origin: origin(), bytes }.into());
        }
        let mut buffer = Vec::new();
        stored.bytes(0..stored.length(), &mut buffer)?;
        Ok(TensorData::from_bytes_vec(buffer, info.shape.clone(), stored.dtype()))
    }
}
