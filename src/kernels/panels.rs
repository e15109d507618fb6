//! The memory layout of weights: panels of 32 outputs.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::arena::Arena;
use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::microkernel::LANES;
use super::number::{Format, Number, with_number};
use crate::error::Result;
use bytemuck::cast_slice;
use bytes::Bytes;

/// A matrix `[n_out, n_in]`, packed into panels of 32 outputs: `[n_out / 32][n_in][32]`.
///
/// For each input, the weights of 32 outputs are contiguous, so the microkernel loads them as whole
/// registers and reads a panel sequentially. The last panel is padded with zeros. A clone shares
/// the memory.
#[derive(Debug, Clone)]
pub struct Panels {
    format: Format,
    n_out: usize,
    n_in: usize,
    /// Aligned to a cache line.
    bytes: Bytes,
}

/// A matrix in a file: little-endian numbers, which need not be aligned.
pub struct StoredMatrix<'a> {
    pub format: Format,
    /// The size, in bytes.
    pub length: usize,
    /// Whether the file stores it as `[n_in, n_out]`.
    pub is_transposed: bool,
    /// Reads a range of the bytes.
    pub read: &'a Read<'a>,
}

/// Calls a function with the bytes of a range.
pub type Read<'a> = dyn Fn(Range<usize>, &mut dyn FnMut(&[u8])) -> Result<()> + Sync + 'a;

// Files store numbers in little-endian order, so their bytes need no conversion here.
const _: () = assert!(cfg!(target_endian = "little"));

impl Panels {
    /// Packs a matrix `[n_out, n_in]`, as `format`, into memory of `arena`. All threads of the
    /// current [`Cpu`] take part, each reading the rows that it packs.
    ///
    /// # Errors
    /// Bytes that cannot be read.
    ///
    /// # Panics
    /// Where `stored` does not hold `n_out * n_in` numbers.
    pub fn pack(
        stored: &StoredMatrix<'_>,
        [n_out, n_in]: [usize; 2],
        format: Format,
        arena: &mut Arena,
    ) -> Result<Self> {
        assert_eq!(stored.length, n_out * n_in * stored.format.size());
        let length = n_out.next_multiple_of(LANES) * n_in * format.size();
        let bytes = arena.store(length, |memory| {
            with_number!(stored.format, S => with_number!(format, N => {
                pack::<S, N>(stored, n_out, n_in, memory)
            }))
        })?;
        Ok(Self { format, n_out, n_in, bytes })
    }

    /// Packs an f32 matrix, stored as `[n_out][n_in]`.
    ///
    /// # Errors
    /// None: reading from memory does not fail.
    pub fn from_numbers(numbers: &[f32], shape: [usize; 2]) -> Result<Self> {
        let bytes: &[u8] = cast_slice(numbers);
        let read = |range: Range<usize>, use_bytes: &mut dyn FnMut(&[u8])| {
            use_bytes(&bytes[range]);
            Ok(())
        };
        let (length, format) = (bytes.len(), Format::F32);
        let stored = StoredMatrix { format, length, is_transposed: false, read: &read };
        Self::pack(&stored, shape, format, &mut Arena::new(0))
    }

    /// `[n_out, n_in]`
    pub fn shape(&self) -> [usize; 2] {
        [self.n_out, self.n_in]
    }

    /// The type in which the numbers are stored.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The memory of the panels, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The number of panels.
    pub(super) fn len(&self) -> usize {
        self.n_out.div_ceil(LANES)
    }

    /// One panel, `[n_in][32]`. `N` must be the type of the matrix's format.
    #[inline(always)]
    pub(super) fn panel<N: Number>(&self, index: usize) -> &[[N; LANES]] {
        debug_assert_eq!(N::FORMAT, self.format);
        let length = self.n_in * LANES * size_of::<N>();
        let numbers: &[N] = cast_slice(&self.bytes[index * length..][..length]);
        numbers.as_chunks::<LANES>().0
    }

    /// The weights of one output, `[n_in]`: a row of an embedding.
    ///
    /// # Panics
    /// Where there is no such output, or `row` is not `[n_in]`.
    pub fn row(&self, output: usize, row: &mut [f32]) {
        assert!(output < self.n_out && row.len() == self.n_in);
        with_number!(self.format, N => {
            let panel = self.panel::<N>(output / LANES);
            for (value, weights) in row.iter_mut().zip(panel) {
                *value = weights[output % LANES].widen_one();
            }
        });
    }
}

/// Inputs in a strip: 32 outputs of them stay in the L1 cache.
const STRIP: usize = 64;

fn pack<S: Number, N: Number>(
    stored: &StoredMatrix<'_>,
    n_out: usize,
    n_in: usize,
    memory: &mut [MaybeUninit<u8>],
) -> Result<()> {
    let length = n_in * LANES * size_of::<N>();
    let panels = memory.len().checked_div(length).unwrap_or(0);
    let memory = Disjoint::new(memory);
    // The outputs of a panel are not contiguous in a transposed matrix, so the whole matrix is read
    // first.
    let mut whole = None;
    if stored.is_transposed {
        (stored.read)(0..stored.length, &mut |bytes| whole = Some(bytes.to_vec()))?;
    }
    let failure = Mutex::new(None);
    Cpu::current().for_each(panels, |panel| {
        // SAFETY: each task writes the memory of its own panel.
        let memory = unsafe { memory.part(panel * length..(panel + 1) * length) };
        let outputs = panel * LANES..n_out.min((panel + 1) * LANES);
        let packed = match &whole {
            Some(bytes) => {
                pack_columns::<S, N>(bytes, n_out, outputs, memory);
                Ok(())
            }
            None => {
                let row = n_in * size_of::<S>();
                let rows = outputs.start * row..outputs.end * row;
                (stored.read)(rows, &mut |rows| pack_rows::<S, N>(rows, n_in, memory))
            }
        };
        if let Err(error) = packed {
            // The memory is not used, but must be initialized.
            memory.fill(MaybeUninit::new(0));
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

// ANCHOR: pack_rows
/// Packs up to 32 rows of `n_in` numbers, `[outputs][n_in]`, as one panel, `[n_in][32]`.
fn pack_rows<S: Number, N: Number>(rows: &[u8], n_in: usize, panel: &mut [MaybeUninit<u8>]) {
    let mut numbers = [N::zeroed(); STRIP];
    for first in (0..n_in).step_by(STRIP) {
        let mut strip = [[N::zeroed(); LANES]; STRIP];
        let width = STRIP.min(n_in - first);
        for (lane, row) in rows.chunks_exact(n_in * size_of::<S>()).enumerate() {
            convert::<S, N>(row, first, &mut numbers[..width]);
            for (lanes, number) in strip.iter_mut().zip(&numbers[..width]) {
                lanes[lane] = *number;
            }
        }
        write(&strip[..width], first, panel);
    }
}
// ANCHOR_END: pack_rows

/// Packs the columns `outputs` of a matrix `[n_in][n_out]` as one panel, `[n_in][32]`.
fn pack_columns<S: Number, N: Number>(
    matrix: &[u8],
    n_out: usize,
    outputs: Range<usize>,
    panel: &mut [MaybeUninit<u8>],
) {
    for (input, row) in matrix.chunks_exact(n_out * size_of::<S>()).enumerate() {
        let mut lanes = [N::zeroed(); LANES];
        convert::<S, N>(row, outputs.start, &mut lanes[..outputs.len()]);
        write(&[lanes], input, panel);
    }
}

fn write<N: Number>(strip: &[[N; LANES]], first: usize, panel: &mut [MaybeUninit<u8>]) {
    let bytes: &[u8] = cast_slice(strip.as_flattened());
    let start = first * LANES * size_of::<N>();
    panel[start..start + bytes.len()].write_copy_of_slice(bytes);
}

/// Fills `to`, at most [`STRIP`] numbers, from the `start`-th number of `bytes` on.
#[inline(always)]
fn convert<S: Number, N: Number>(bytes: &[u8], start: usize, to: &mut [N]) {
    let from =
        &bytes[start * size_of::<S>()..][..size_of_val(to) / size_of::<N>() * size_of::<S>()];
    if S::FORMAT == N::FORMAT {
        bytemuck::cast_slice_mut::<N, u8>(to).copy_from_slice(from);
        return;
    }
    let numbers = from.chunks_exact(size_of::<S>()).map(bytemuck::pod_read_unaligned::<S>);
    let mut values = [0.0; STRIP];
    let values = &mut values[..to.len()];
    for (value, number) in values.iter_mut().zip(numbers) {
        *value = number.widen_one();
    }
    N::narrow(values, to);
}
