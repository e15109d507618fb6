//! Downloads limited to the announced size.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hf_hub::api::Progress;
use indicatif::ProgressBar;

/// Shows the progress of a download, and stops it beyond the announced size.
///
/// `hf-hub` writes all that the server sends. The progress callback, called before each chunk is
/// written, is the only place to intervene, and unwinding the only way out: it closes the file and
/// the connection, and `resume_unwind` calls no panic hook.
pub(super) struct Bounded {
    size: u64,
    came: u64,
    bar: ProgressBar,
}

/// The payload of the unwinding.
struct TooLong;

/// Runs a download of up to `size` bytes. Returns `None` if the server sent more.
pub(super) fn upto<T>(size: u64, download: impl FnOnce(Bounded) -> T) -> Option<T> {
    let progress = Bounded { size, came: 0, bar: ProgressBar::new(0) };
    match catch_unwind(AssertUnwindSafe(|| download(progress))) {
        Ok(value) => Some(value),
        Err(payload) if payload.is::<TooLong>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

impl Progress for Bounded {
    /// Also called when a download resumes; the existing bytes then count as an update.
    fn init(&mut self, size: usize, filename: &str) {
        self.came = 0;
        Progress::init(&mut self.bar, size, filename);
    }

    fn update(&mut self, size: usize) {
        self.came += size as u64;
        if self.came > self.size {
            resume_unwind(Box::new(TooLong));
        }
        Progress::update(&mut self.bar, size);
    }

    fn finish(&mut self) {
        Progress::finish(&mut self.bar);
    }
}
