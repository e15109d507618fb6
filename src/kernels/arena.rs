//! Memory for weights.

use std::mem::MaybeUninit;

use bytes::{Buf, Bytes, BytesMut};

use crate::memory;

/// Contiguous memory for many matrices, on huge pages.
///
/// A decode step reads all weights. Contiguous weights on huge pages cause fewer TLB misses. Each
/// piece is freed with the last of its matrices.
pub struct Arena {
    /// The unused end of the newest piece.
    rest: BytesMut,
    /// The least size of a piece, in bytes.
    piece: usize,
}

impl Arena {
    /// An arena for matrices of up to `expected` bytes in all.
    pub fn new(expected: usize) -> Self {
        /// Limits the size of a piece, in case `expected` is far too large.
        const MOST: usize = 256 << 20;
        Self { rest: BytesMut::new(), piece: expected.min(MOST) }
    }

    /// The least bytes that it takes at once.
    pub(crate) fn piece(&self) -> usize {
        self.piece
    }

    /// Stores `length` bytes, aligned to a cache line. `fill` must write all of them.
    ///
    /// # Errors
    /// Those of `fill`; nothing is stored then.
    pub(super) fn store<E>(
        &mut self,
        length: usize,
        fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), E>,
    ) -> Result<Bytes, E> {
        const LINE: usize = 64;
        if self.rest.capacity() < length + LINE {
            let piece = self.piece.max(length + LINE);
            // Where the address space has a limit, less may be left than a piece.
            let size = if memory::is_promised(piece) {
                piece
            } else {
                length + LINE
            };
            self.rest = BytesMut::with_capacity(size);
            prefer_huge_pages(self.rest.spare_capacity_mut());
        }
        let gap = self.rest.as_ptr().align_offset(LINE);
        self.rest.resize(gap, 0);
        self.rest.advance(gap);
        fill(&mut self.rest.spare_capacity_mut()[..length])?;
        // SAFETY: `fill` has written `length` bytes.
        unsafe { self.rest.set_len(length) };
        Ok(self.rest.split().freeze())
    }
}
/// Asks for huge pages of 2 MiB instead of 4 KiB. Depending on its settings, Linux uses them by
/// default, only on request, or never.
#[cfg(target_os = "linux")]
fn prefer_huge_pages(memory: &mut [MaybeUninit<u8>]) {
    /// A multiple of the base page size, whether that is 4, 16 or 64 KiB.
    const SMALL: usize = 64 << 10;
    let range = memory.as_mut_ptr_range();
    let start = range.start.addr().next_multiple_of(SMALL);
    let Some(length) = (range.end.addr() / SMALL * SMALL).checked_sub(start) else {
        return;
    };
    // SAFETY: the range lies inside memory that is borrowed here, and the advice does not change
    // the contents.
    let outcome =
        unsafe { libc::madvise(range.start.with_addr(start).cast(), length, libc::MADV_HUGEPAGE) };
    // The call is advice only: a system without huge pages refuses it.
    let _ = outcome;
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_: &mut [MaybeUninit<u8>]) {}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Three tensors, of which the last is larger than a piece.
    #[test]
    fn keeps_what_is_stored() {
        let mut arena = Arena::new(300);
        let stored = [(100, 1), (90, 2), (1000, 3)].map(|(length, value)| {
            let fill = |memory: &mut [MaybeUninit<u8>]| {
                memory.fill(MaybeUninit::new(value));
                Ok::<_, Infallible>(())
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
