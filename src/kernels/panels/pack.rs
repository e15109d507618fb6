//! From the weights of a file to panels: converted, quantized, or group by group.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytemuck::{bytes_of, cast_slice};

use super::{PanelFormat, Panels};
use crate::error::Result;
use crate::kernels::arena::Arena;
use crate::kernels::cpu::Cpu;
use crate::kernels::disjoint::Disjoint;
use crate::kernels::microkernel::LANES;
use crate::kernels::number::{Format, Number, with_number};
use crate::kernels::quantized::{
    GROUP, Group, GroupFormat, PackedGroups, Quantized, Rounding, quantize, with_groups,
};

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

/// A matrix in a file whose weights are stored in groups.
pub struct StoredGroups<'a> {
    /// A format that holds every value of the groups.
    pub format: GroupFormat,
    /// Reads the groups of one output, `[n_in / GROUP]`.
    pub read_row: &'a ReadRow<'a>,
}

/// Fills in the groups of an output.
pub type ReadRow<'a> = dyn Fn(usize, &mut [Group]) -> Result<()> + Sync + 'a;

/// Calls a function with the bytes of a range, unless it fails.
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
    /// Where `stored` does not hold `n_out * n_in` numbers, or its `read` neither fails nor calls the
    /// function that it is given.
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
                pack_panels(stored, [n_out, n_in], memory, |rows, panel| {
                    pack_rows::<S, N>(rows, n_in, panel);
                })
            }))
        })?;
        Ok(Self::new(PanelFormat::Dense(format), [n_out, n_in], bytes))
    }

    /// Quantizes a matrix `[n_out, n_in]` while it is packed. Otherwise as [`pack`](Self::pack).
    ///
    /// # Errors
    /// Bytes that cannot be read.
    ///
    /// # Panics
    /// Where `stored` does not hold `n_out * n_in` numbers, or its `read` neither fails nor calls the
    /// function that it is given.
    pub fn quantize(
        stored: &StoredMatrix<'_>,
        [n_out, n_in]: [usize; 2],
        format: Quantized,
        rounding: Rounding,
        arena: &mut Arena,
    ) -> Result<Self> {
        assert_eq!(stored.length, n_out * n_in * stored.format.size());
        let groups = GroupFormat::from(format);
        let length = n_out.div_ceil(LANES) * n_in.div_ceil(GROUP) * groups.bytes_of_1024();
        let bytes = arena.store(length, |memory| {
            with_number!(stored.format, S => {
                pack_panels(stored, [n_out, n_in], memory, |rows, panel| {
                    quantize_rows::<S>(rows, n_in, format, rounding, panel);
                })
            })
        })?;
        Ok(Self::new(PanelFormat::Quantized(groups), [n_out, n_in], bytes))
    }

    /// Packs a matrix `[n_out, n_in]` that a file stores in groups, each value exactly. All threads
    /// of the current [`Cpu`] take part.
    ///
    /// # Errors
    /// Groups that cannot be read.
    ///
    /// # Panics
    /// Where `n_in` is no multiple of [`GROUP`].
    pub fn from_groups(
        stored: &StoredGroups<'_>,
        [n_out, n_in]: [usize; 2],
        arena: &mut Arena,
    ) -> Result<Self> {
        assert!(n_in.is_multiple_of(GROUP));
        let panel = n_in / GROUP * stored.format.bytes_of_1024();
        let bytes = arena.store(n_out.div_ceil(LANES) * panel, |memory| {
            for_each_panel(n_out, memory, |outputs, panel| {
                let mut groups = vec![[Group::ZERO; LANES]; n_in / GROUP];
                let mut row = vec![Group::ZERO; n_in / GROUP];
                for (lane, output) in outputs.enumerate() {
                    (stored.read_row)(output, &mut row)?;
                    for (groups, group) in groups.iter_mut().zip(&row) {
                        groups[lane] = *group;
                    }
                }
                pack_groups(&groups, stored.format, panel);
                Ok(())
            })
        })?;
        Ok(Self::new(PanelFormat::Quantized(stored.format), [n_out, n_in], bytes))
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
}

/// Inputs in a strip: 32 outputs of them stay in the L1 cache.
const STRIP: usize = 64;

/// Packs all panels: calls `pack_rows` with up to 32 rows, as the file stores them, and the memory
/// of their panel, all of which it must write.
fn pack_panels(
    stored: &StoredMatrix<'_>,
    [n_out, n_in]: [usize; 2],
    memory: &mut [MaybeUninit<u8>],
    pack_rows: impl Fn(&[u8], &mut [MaybeUninit<u8>]) + Sync,
) -> Result<()> {
    let row = n_in * stored.format.size();
    // The outputs of a panel are not contiguous in a transposed matrix, so the whole matrix is read
    // first.
    let mut whole = None;
    if stored.is_transposed {
        (stored.read)(0..stored.length, &mut |bytes| whole = Some(bytes.to_vec()))?;
    }
    for_each_panel(n_out, memory, |outputs, memory| match &whole {
        Some(matrix) => {
            pack_rows(&columns(matrix, n_out, outputs, stored.format.size()), memory);
            Ok(())
        }
        None => {
            let rows = outputs.start * row..outputs.end * row;
            let mut is_packed = false;
            (stored.read)(rows, &mut |rows| {
                pack_rows(rows, memory);
                is_packed = true;
            })?;
            // Nothing has written the memory otherwise.
            assert!(is_packed, "`read` must call the function that it is given");
            Ok(())
        }
    })
}

/// Calls `pack` with the outputs of each panel and its memory, all of which it must write unless it
/// fails. The threads share the panels.
fn for_each_panel(
    n_out: usize,
    memory: &mut [MaybeUninit<u8>],
    pack: impl Fn(Range<usize>, &mut [MaybeUninit<u8>]) -> Result<()> + Sync,
) -> Result<()> {
    let panels = n_out.div_ceil(LANES);
    let length = memory.len().checked_div(panels).unwrap_or(0);
    let memory = Disjoint::new(memory);
    let failure = Mutex::new(None);
    Cpu::current().for_each(panels, |panel| {
        // SAFETY: each task writes the memory of its own panel.
        let memory = unsafe { memory.part(panel * length..(panel + 1) * length) };
        if let Err(error) = pack(panel * LANES..n_out.min((panel + 1) * LANES), memory) {
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

/// The columns `outputs` of a matrix `[n_in][n_out]` with numbers of `size` bytes, as rows.
fn columns(matrix: &[u8], n_out: usize, outputs: Range<usize>, size: usize) -> Vec<u8> {
    let n_in = matrix.len() / (n_out * size);
    let mut rows = vec![0; outputs.len() * n_in * size];
    for (input, numbers) in matrix.chunks_exact(n_out * size).enumerate() {
        let numbers = numbers[outputs.start * size..outputs.end * size].chunks_exact(size);
        for (row, number) in rows.chunks_exact_mut(n_in * size).zip(numbers) {
            row[input * size..(input + 1) * size].copy_from_slice(number);
        }
    }
    rows
}

// ANCHOR: quantize_rows
/// Quantizes up to 32 rows of `n_in` numbers, `[outputs][n_in]`, as the groups of one panel.
fn quantize_rows<S: Number>(
    rows: &[u8],
    n_in: usize,
    format: Quantized,
    rounding: Rounding,
    panel: &mut [MaybeUninit<u8>],
) {
    let mut groups = vec![[Group::ZERO; LANES]; n_in.div_ceil(GROUP)];
    for (lane, row) in rows.chunks_exact(n_in * size_of::<S>()).enumerate() {
        for (g, group) in groups.iter_mut().enumerate() {
            let first = g * GROUP;
            let mut numbers = [0.0; GROUP];
            convert::<S, f32>(row, first, &mut numbers[..GROUP.min(n_in - first)]);
            let (scale, integers) = quantize(&numbers, format, rounding);
            group[lane] = Group { scales: [scale.to_f32(); 2], min: 0.0, integers };
        }
    }
    pack_groups(&groups, format.into(), panel);
}
// ANCHOR_END: quantize_rows

/// Packs the groups of 32 outputs, `[n_in / GROUP]`, as one panel.
fn pack_groups(groups: &[[Group; LANES]], format: GroupFormat, panel: &mut [MaybeUninit<u8>]) {
    with_groups!(format, G => {
        for (memory, groups) in panel.chunks_exact_mut(size_of::<G>()).zip(groups) {
            memory.write_copy_of_slice(bytes_of(&G::pack(groups)));
        }
    });
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
