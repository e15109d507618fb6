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
    pub(super) order: Order,
}

/// In which order a file has the rows of a matrix, or its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As the network.
    Same,
    /// RoPE turns pairs of rows of a head. In the network, a pair is `i` and `i + head_dim / 2`, and in the file
    /// `2 * i` and `2 * i + 1`.
    Pairs { head_dim: usize },
    /// Heads of values in turns, one of each key.
    Rows(Turns),
    /// The same, of columns.
    Columns(Turns),
}

/// The order of the heads of values, of which several belong to a key: in the network these are next to each other,
/// and in the file there is one of each key, then the second of each, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turns {
    /// Where the heads begin.
    pub(super) first: usize,
    /// How many numbers, or rows, a head has.
    pub(super) size: usize,
    pub(super) keys: usize,
    /// How many heads each key has.
    pub(super) of_key: usize,
}

impl Turns {
    /// Where the file has row or column `i` of the network.
    fn stored(self, i: usize) -> usize {
        let Self { first, size, keys, of_key } = self;
        let Some(i) = i.checked_sub(first) else {
            return i;
        };
        let (head, in_head) = (i / size, i % size);
        first + (head % of_key * keys + head / of_key) * size + in_head
    }
}

impl Order {
    /// The row of the file that holds row `row` of the network.
    fn stored_row(self, row: usize) -> usize {
        match self {
            Self::Same | Self::Columns(_) => row,
            Self::Rows(turns) => turns.stored(row),
            Self::Pairs { head_dim } => {
                let (head, in_head) = (row / head_dim, row % head_dim);
                let (half, i) = (in_head / (head_dim / 2), in_head % (head_dim / 2));
                head * head_dim + 2 * i + half
            }
        }
    }
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
        match self.order {
            // A head must be whole groups.
            Order::Columns(turns) if !turns.size.is_multiple_of(GROUP) => None,
            _ => self.info.kind.group_format(),
        }
    }

    /// Reads the groups of a row.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn read_groups(&self, row: usize, groups: &mut [Group]) -> Result<()> {
        let TensorType::Blocks(blocks) = self.info.kind else {
            return Ok(());
        };
        let row = self.order.stored_row(row);
        let length = self.columns() / blocks.numbers() * blocks.bytes();
        let mut stored = vec![0; length];
        self.read_stored(row * length, &mut stored)?;
        let in_blocks = groups.chunks_mut(blocks.numbers() / GROUP);
        for (block, groups) in stored.chunks_exact(blocks.bytes()).zip(in_blocks) {
            blocks.groups(block, groups);
        }
        if let Order::Columns(turns) = self.order {
            let stored = groups.to_vec();
            for (i, group) in groups.iter_mut().enumerate() {
                *group = stored[turns.stored(i * GROUP) / GROUP];
            }
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
        if self.order == Order::Same {
            self.read(range.start / size, buffer)?;
            return Ok(buffer);
        }
        let columns = self.columns();
        let mut whole = Vec::new();
        let mut to = buffer.as_mut_slice();
        let mut first = range.start / size;
        while !to.is_empty() {
            let (row, column) = (first / columns, first % columns);
            let count = (columns - column).min(to.len() / size);
            let (part, rest) = to.split_at_mut(count * size);
            let stored = self.order.stored_row(row) * columns;
            if let Order::Columns(turns) = self.order {
                whole.resize(columns * size, 0);
                self.read(stored, &mut whole)?;
                for (column, number) in (column..).zip(part.chunks_exact_mut(size)) {
                    number.copy_from_slice(&whole[turns.stored(column) * size..][..size]);
                }
            } else {
                self.read(stored + column, part)?;
            }
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

#[cfg(test)]
mod tests;
