//! The memory of a test, which must be alone in its file.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The system's allocator, which counts the bytes that were taken and not given back.
pub struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        TAKEN.fetch_add(new_size, Ordering::Relaxed);
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The bytes that are taken, once they are no more than `most`; after a while, however many they
/// are. A thread gives back the last of its memory after it has said that it is done.
pub fn settled(most: usize) -> usize {
    let start = Instant::now();
    loop {
        let taken = TAKEN.load(Ordering::Relaxed);
        if taken <= most || start.elapsed() > Duration::from_secs(2) {
            return taken;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
