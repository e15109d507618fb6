//! A tensor of a file, read by ranges.

use std::ops::Range;

use burn::tensor::DType;
use bytemuck::cast_slice;

use super::blocks::MOST_NUMBERS;
use super::file::GgufFile;
use super::tensor_type::TensorType;
use crate::error::{Error, LoadError, Result};
use crate::kernels::{GROUP, Group, GroupFormat};

/// The header's entry for one tensor.
#[derive(Debug)]
pub struct TensorInfo {
    pub(super) kind: TensorType,
    /// `[..., columns]`: the last dimension varies fastest.
    pub(super) shape: Vec<usize>,
    pub(super) numbers: usize,
    /// The size in the file, in bytes.
    pub(super) length: usize,
    /// Which of the files of the model has it.
    pub(super) part: usize,
    /// Where it begins in the data of that file, in bytes.
    pub(super) offset: u64,
}

impl TensorInfo {
    /// How the numbers are stored.
    pub fn kind(&self) -> TensorType {
        self.kind
    }

    /// `[..., columns]`: the last dimension varies fastest. (The file has them the other way
    /// around.)
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

/// A tensor of a file.
pub(crate) struct StoredTensor<'a> {
    pub(super) file: &'a GgufFile<'a>,
    pub(super) name: &'a str,
    pub(super) info: &'a TensorInfo,
    /// The size of a head whose rows are interleaved, and none where rows are in their order.
    pub(super) interleaved_head: Option<usize>,
}

impl StoredTensor<'_> {
    /// The type of the numbers that [`bytes`](Self::bytes) returns: blocks become F32.
    pub(crate) fn dtype(&self) -> DType {
        self.info.kind.dtype()
    }

    /// The size of all numbers in that type, in bytes.
    pub(crate) fn length(&self) -> usize {
        self.info.numbers * self.dtype().size()
    }

    /// The format of panels that holds what is stored in blocks, of a matrix whose rows are whole
    /// groups.
    pub(crate) fn group_format(&self) -> Option<GroupFormat> {
        self.info.kind.group_format()
    }

    /// Reads the groups of a row.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn read_groups(&self, row: usize, groups: &mut [Group]) -> Result<()> {
        let TensorType::Blocks(blocks) = self.info.kind else {
            return Ok(());
        };
        let row = self.interleaved_head.map_or(row, |head_dim| stored_row(row, head_dim));
        let length = self.columns() / blocks.numbers() * blocks.bytes();
        let mut stored = vec![0; length];
        self.read_stored(row * length, &mut stored)?;
        let groups = groups.chunks_mut(blocks.numbers() / GROUP);
        for (block, groups) in stored.chunks_exact(blocks.bytes()).zip(groups) {
            blocks.groups(block, groups);
        }
        Ok(())
    }

    /// The bytes of the numbers in `range`, dequantized into `buffer`. The range must begin and end
    /// between blocks.
    ///
    /// # Errors
    /// A file that cannot be read, such as one that was truncated after its header was read.
    pub(crate) fn bytes<'b>(
        &self,
        range: Range<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let size = self.dtype().size();
        buffer.resize(range.len(), 0);
        let Some(head_dim) = self.interleaved_head else {
            self.read(range.start / size, buffer)?;
            return Ok(buffer);
        };
        let columns = self.columns();
        let mut to = buffer.as_mut_slice();
        let mut first = range.start / size;
        while !to.is_empty() {
            let (row, column) = (first / columns, first % columns);
            let count = (columns - column).min(to.len() / size);
            let (part, rest) = to.split_at_mut(count * size);
            self.read(stored_row(row, head_dim) * columns + column, part)?;
            (to, first) = (rest, first + count);
        }
        Ok(buffer)
    }

    /// The length of a row: 1 in a vector, each of whose numbers is one output.
    fn columns(&self) -> usize {
        match self.info.shape.as_slice() {
            [] | [_] => 1,
            [.., columns] => *columns,
        }
    }

    /// Fills `to` with the numbers from `first` on, in the order of the file.
    fn read(&self, first: usize, to: &mut [u8]) -> Result<()> {
        let kind = self.info.kind;
        let start = first / kind.block_numbers() * kind.block_bytes();
        let TensorType::Blocks(blocks) = kind else {
            return self.read_stored(start, to);
        };
        let size = blocks.numbers() * size_of::<f32>();
        debug_assert!(first.is_multiple_of(blocks.numbers()) && to.len().is_multiple_of(size));
        let mut stored = vec![0; to.len() / size * blocks.bytes()];
        self.read_stored(start, &mut stored)?;
        let mut numbers = [0.0; MOST_NUMBERS];
        let numbers = &mut numbers[..blocks.numbers()];
        for (block, to) in stored.chunks_exact(blocks.bytes()).zip(to.chunks_exact_mut(size)) {
            blocks.dequantize(block, numbers);
            to.copy_from_slice(cast_slice(numbers));
        }
        Ok(())
    }

    /// Fills `to` with the bytes of the file from `start` of this tensor on.
    fn read_stored(&self, start: usize, to: &mut [u8]) -> Result<()> {
        self.file.read_data(self.info, start, to).map_err(|error| {
            Error::Load(LoadError::GgufTensor {
                origin: self.file.parts[self.info.part].origin.clone(),
                tensor: self.name.to_owned(),
                problem: format!("cannot be read: {error}"),
            })
        })
    }
}

/// The row of the file that holds row `row` of the network.
///
/// RoPE turns pairs of rows of a head. In the network, a pair is `i` and `i + head_dim / 2`. In
/// files of the architecture `llama`, it is `2 * i` and `2 * i + 1`.
fn stored_row(row: usize, head_dim: usize) -> usize {
    let (head, in_head) = (row / head_dim, row % head_dim);
    let (half, i) = (in_head / (head_dim / 2), in_head % (head_dim / 2));
    head * head_dim + 2 * i + half
}

#[cfg(test)]
mod tests;
