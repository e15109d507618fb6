//! A slice that several threads write to, in disjoint parts.

use std::marker::PhantomData;
use std::ops::Range;

/// Lends disjoint parts of one slice to tasks on several threads. The standard library does this
/// safely for contiguous chunks, but a task here owns some columns of every row.
pub(super) struct Disjoint<'a, T> {
    start: *mut T,
    length: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: `part` gives out disjoint `&mut [T]`, which may be sent where `T: Send`.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    pub(super) fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            length: slice.len(),
            slice: PhantomData,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The elements of `range`, which must lie inside.
    ///
    /// # Safety
    /// No other part that overlaps with `range` may be alive at the same time.
    #[inline(always)]
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.length);
        // SAFETY: the range lies inside the slice, which is borrowed for `'a`, and the caller
        // promises that nothing else points to these elements.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
