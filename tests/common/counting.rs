//! The memory of a test, which must be alone in its file.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The system's allocator, which counts the bytes that are asked for.
pub struct Counting;

/// Those that were taken and not given back, and how many these were at most.
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// All that were ever asked for, and the largest piece.
static SUM: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// Whoever would take more gets nothing.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Counts so many more. False where they are too many.
fn may_take(size: usize) -> bool {
    SUM.fetch_add(size, Ordering::Relaxed);
    LARGEST.fetch_max(size, Ordering::Relaxed);
    let taken = TAKEN.fetch_add(size, Ordering::Relaxed).saturating_add(size);
    MOST.fetch_max(taken, Ordering::Relaxed);
    taken <= LIMIT.load(Ordering::Relaxed)
}

// SAFETY: every call that is not refused is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !may_take(layout.size()) {
            return null_mut();
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !may_take(layout.size()) {
            return null_mut();
        }
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !may_take(new_size) {
            return null_mut();
        }
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Refuses all that would make it more than so many bytes.
pub fn limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The bytes that are asked for while something is done, on every thread.
pub struct Asked {
    /// All together, also what was given back meanwhile.
    pub sum: usize,
    /// The largest piece.
    pub largest: usize,
    /// How many more than before were taken at a time.
    pub most: usize,
}

pub fn asked_by<T>(work: impl FnOnce() -> T) -> (T, Asked) {
    let (sum, before) = (SUM.load(Ordering::Relaxed), TAKEN.load(Ordering::Relaxed));
    LARGEST.store(0, Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = work();
    let asked = Asked {
        sum: SUM.load(Ordering::Relaxed).wrapping_sub(sum),
        largest: LARGEST.load(Ordering::Relaxed),
        most: MOST.load(Ordering::Relaxed) - before,
    };
    (result, asked)
}

/// Memory belongs to the whole process, so only one test may run at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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
