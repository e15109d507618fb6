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
use crate::kernels::number::{Number, Precision, with_number};
use crate::kernels::quantized::{
    GROUP, Group, GroupFormat, PackedGroups, Quantized, Rounding, quantize, with_groups,
};

/// A matrix in a file: little-endian numbers, which need not be aligned.
pub trait StoredMatrix: Sync {
    fn precision(&self) -> Precision;

    /// The size of the numbers, in bytes.
    fn length(&self) -> usize;

    /// The bytes in `range`. What is not in memory goes through `buffer`.
    ///
    /// # Errors
    /// Bytes that cannot be read.
    fn bytes<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]>;
}

impl StoredMatrix for &[f32] {
    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn length(&self) -> usize {
        size_of_val(*self)
    }

    fn bytes<'b>(&'b self, range: Range<usize>, _: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        Ok(&cast_slice(self)[range])
    }
}

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
        stored: &dyn StoredMatrix,
        [n_out, n_in]: [usize; 2],
        format: Precision,
        arena: &mut Arena,
    ) -> Result<Self> {
        assert_eq!(stored.length(), n_out * n_in * stored.precision().size());
        let length = n_out.next_multiple_of(LANES) * n_in * format.size();
        let bytes = arena.store(length, |memory| {
            with_number!(stored.precision(), S => with_number!(format, N => {
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
    /// Where `stored` does not hold `n_out * n_in` numbers.
    pub fn quantize(
        stored: &dyn StoredMatrix,
        [n_out, n_in]: [usize; 2],
        format: Quantized,
        rounding: Rounding,
        arena: &mut Arena,
    ) -> Result<Self> {
        assert_eq!(stored.length(), n_out * n_in * stored.precision().size());
        let groups = GroupFormat::from(format);
        let length = n_out.div_ceil(LANES) * n_in.div_ceil(GROUP) * groups.bytes_of_1024();
        let bytes = arena.store(length, |memory| {
            with_number!(stored.precision(), S => {
                pack_panels(stored, [n_out, n_in], memory, |rows, panel| {
                    quantize_rows::<S>(rows, n_in, format, rounding, panel);
                })
            })
        })?;
        Ok(Self::new(PanelFormat::Quantized(groups), [n_out, n_in], bytes))
    }

    /// Packs a matrix `[n_out, n_in]` that a file stores in groups, as a `format` that holds every value of them.
    /// `read_row` fills in the groups of an output, `[n_in / GROUP]`. All threads of the current [`Cpu`] take part.
    ///
    /// # Errors
    /// Groups that cannot be read.
    ///
    /// # Panics
    /// Where `n_in` is no multiple of [`GROUP`].
    pub fn from_groups(
        read_row: &(dyn Fn(usize, &mut [Group]) -> Result<()> + Sync),
        [n_out, n_in]: [usize; 2],
        format: GroupFormat,
        arena: &mut Arena,
    ) -> Result<Self> {
        assert!(n_in.is_multiple_of(GROUP));
        let panel = n_in / GROUP * format.bytes_of_1024();
        let bytes = arena.store(n_out.div_ceil(LANES) * panel, |memory| {
            for_each_panel(n_out, memory, |outputs, panel| {
                let mut groups = vec![[Group::ZERO; LANES]; n_in / GROUP];
                let mut row = vec![Group::ZERO; n_in / GROUP];
                for (lane, output) in outputs.enumerate() {
                    read_row(output, &mut row)?;
                    for (groups, group) in groups.iter_mut().zip(&row) {
                        groups[lane] = *group;
                    }
                }
                pack_groups(&groups, format, panel);
                Ok(())
            })
        })?;
        Ok(Self::new(PanelFormat::Quantized(format), [n_out, n_in], bytes))
    }

    /// Packs an f32 matrix, stored as `[n_out][n_in]`.
    ///
    /// # Errors
    /// None: reading from memory does not fail.
    pub fn from_numbers(numbers: &[f32], shape: [usize; 2]) -> Result<Self> {
        Self::pack(&numbers, shape, Precision::F32, &mut Arena::new(0))
    }
}

/// Inputs in a strip: 32 outputs of them stay in the L1 cache.
const STRIP: usize = 64;

/// Packs all panels: calls `pack_rows` with up to 32 rows, as the file stores them, and the memory
/// of their panel, all of which it must write.
fn pack_panels(
    stored: &dyn StoredMatrix,
    [n_out, n_in]: [usize; 2],
    memory: &mut [MaybeUninit<u8>],
    pack_rows: impl Fn(&[u8], &mut [MaybeUninit<u8>]) + Sync,
) -> Result<()> {
    let row = n_in * stored.precision().size();
    for_each_panel(n_out, memory, |outputs, memory| {
        let (range, mut buffer) = (outputs.start * row..outputs.end * row, Vec::new());
        let rows = stored.bytes(range.clone(), &mut buffer)?;
        assert_eq!(rows.len(), range.len(), "memory that nothing writes");
        pack_rows(rows, memory);
        Ok(())
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
