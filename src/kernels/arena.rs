//! Where the numbers of the weights lie.

use std::mem::MaybeUninit;

use bytes::{Buf, Bytes, BytesMut};

use crate::error::Result;

/// Memory for many matrices, one beside the other, on huge pages.
///
/// A decode step reads all weights. Contiguous weights on huge pages cause fewer TLB misses. A
/// piece of memory is given back when none of its matrices is left.
pub struct Arena {
    /// What is left of the newest piece.
    rest: BytesMut,
    /// How many bytes a piece has at least.
    piece: usize,
}

impl Arena {
    /// For matrices that take up to `expected` bytes in all.
    pub fn new(expected: usize) -> Self {
        /// Not more at once, in case `expected` is far too much.
        const MOST: usize = 256 << 20;
        Self { rest: BytesMut::new(), piece: expected.min(MOST) }
    }

    /// Puts `length` bytes there, aligned to a line of the processor's cache. `fill` must write
    /// all of them.
    ///
    /// # Errors
    /// Those of `fill`; then nothing is kept.
    pub(super) fn store(
        &mut self,
        length: usize,
        fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<()>,
    ) -> Result<Bytes> {
        const LINE: usize = 64;
        if self.rest.capacity() < length + LINE {
            self.rest = BytesMut::with_capacity(self.piece.max(length + LINE));
            prefer_huge_pages(self.rest.spare_capacity_mut());
        }
        let gap = self.rest.as_ptr().align_offset(LINE);
        self.rest.resize(gap, 0);
        self.rest.advance(gap);
        fill(&mut self.rest.spare_capacity_mut()[..length])?;
        // SAFETY: `fill` has written as many bytes.
        unsafe { self.rest.set_len(length) };
        Ok(self.rest.split().freeze())
    }
}
/// Asks the system for pages of 2 MiB in place of 4 KiB. Linux does this by itself or only
/// where it is asked to, as it is set up.
#[cfg(target_os = "linux")]
fn prefer_huge_pages(memory: &mut [MaybeUninit<u8>]) {
    /// A multiple of the size of the small pages, whether these have 4, 16 or 64 KiB.
    const SMALL: usize = 64 << 10;
    let range = memory.as_mut_ptr_range();
    let start = range.start.addr().next_multiple_of(SMALL);
    let Some(length) = (range.end.addr() / SMALL * SMALL).checked_sub(start) else {
        return;
    };
    // SAFETY: the range lies inside memory that is borrowed here, and the advice changes
    // nothing that is stored there.
    let outcome =
        unsafe { libc::madvise(range.start.with_addr(start).cast(), length, libc::MADV_HUGEPAGE) };
    // It was only an advice: a system without large pages refuses it.
    let _ = outcome;
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_: &mut [MaybeUninit<u8>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three tensors, of which the last needs a piece of its own.
    #[test]
    fn keeps_what_is_stored() {
        let mut arena = Arena::new(300);
        let stored = [(100, 1), (90, 2), (1000, 3)].map(|(length, value)| {
            let fill = |memory: &mut [MaybeUninit<u8>]| {
                memory.fill(MaybeUninit::new(value));
                Ok(())
            };
            (arena.store(length, fill).unwrap(), length, value)
        });
        drop(arena);
        for (bytes, length, value) in stored {
            assert_eq!(*bytes, vec![value; length]);
            assert_eq!(bytes.as_ptr().align_offset(64), 0);
        }
    }
}
