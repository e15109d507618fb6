//! A download that ends where the hub said that the file does.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hf_hub::api::Progress;
use indicatif::ProgressBar;

/// Shows a download, and stops it where more comes than was announced.
///
/// `hf-hub` writes whatever comes and asks nobody. All that it does before each piece is written
/// is to tell its progress. From there only unwinding leads out; it closes the file and the
/// connection on its way, and calls no panic hook.
pub(super) struct Bounded {
    size: u64,
    came: u64,
    bar: ProgressBar,
}

/// What is unwound with.
struct TooLong;

/// Runs a download of up to `size` bytes. It has no value where it was stopped at that.
pub(super) fn upto<T>(size: u64, download: impl FnOnce(Bounded) -> T) -> Option<T> {
    let progress = Bounded { size, came: 0, bar: ProgressBar::new(0) };
    match catch_unwind(AssertUnwindSafe(|| download(progress))) {
        Ok(value) => Some(value),
        Err(payload) if payload.is::<TooLong>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

impl Progress for Bounded {
    /// Also called where a download is gone on with: what is there is then told as an update.
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
