//! A file of weights, open and read by ranges.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::safetensors::ReadAt;
use crate::error::{LoadError, Result};
use crate::files;

/// A file of weights, open and read by ranges.
pub(super) struct OpenFile {
    /// The name of the file in errors.
    pub(super) origin: String,
    /// In bytes.
    pub(super) length: u64,
    pub(super) read_at: Box<ReadAt<'static>>,
}

impl OpenFile {
    /// Opens a file, or returns none where it does not exist.
    ///
    /// # Errors
    /// A path that is not a regular file, or that cannot be read.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let Some(file) = files::open(path)? else {
            return Ok(None);
        };
        let length = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(source) => return Err(LoadError::Io { path: path.to_owned(), source }.into()),
        };
        let (read_at, counted) = (files::reader(file), Counted::new(length, &ALL));
        let read_at = move |start: u64, buffer: &mut [u8]| {
            read_at(start, buffer)?;
            counted.read(buffer.len() as u64);
            Ok(())
        };
        Ok(Some(Self {
            origin: format!("{path:?}"),
            length,
            read_at: Box::new(read_at),
        }))
    }
}

/// How much of the files of weights was read that this process has open: for a progress bar, from
/// another thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// The bytes of these files. 0 where nothing is being loaded.
    pub bytes: u64,
    /// How many of them were read; of a file that is read twice, none twice.
    pub read: u64,
}

/// How far loading is.
pub fn reading() -> Reading {
    ALL.reading()
}

/// The bytes of all files that are open, and those of them that were read.
struct Totals {
    bytes: AtomicU64,
    read: AtomicU64,
}

static ALL: Totals = Totals::new();

impl Totals {
    const fn new() -> Self {
        Self { bytes: AtomicU64::new(0), read: AtomicU64::new(0) }
    }

    fn reading(&self) -> Reading {
        let bytes = self.bytes.load(Ordering::Relaxed);
        Reading { bytes, read: self.read.load(Ordering::Relaxed).min(bytes) }
    }
}

/// What a file contributes to the totals while it is open.
struct Counted {
    length: u64,
    read: AtomicU64,
    totals: &'static Totals,
}

impl Counted {
    fn new(length: u64, totals: &'static Totals) -> Self {
        totals.bytes.fetch_add(length, Ordering::Relaxed);
        Self { length, read: AtomicU64::new(0), totals }
    }

    fn read(&self, bytes: u64) {
        let left = self.length.saturating_sub(self.read.fetch_add(bytes, Ordering::Relaxed));
        self.totals.read.fetch_add(bytes.min(left), Ordering::Relaxed);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let read = self.read.load(Ordering::Relaxed).min(self.length);
        self.totals.read.fetch_sub(read, Ordering::Relaxed);
        self.totals.bytes.fetch_sub(self.length, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_of_open_files_is_counted() {
        static TOTALS: Totals = Totals::new();
        let (first, second) = (Counted::new(100, &TOTALS), Counted::new(50, &TOTALS));
        first.read(40);
        assert_eq!(TOTALS.reading(), Reading { bytes: 150, read: 40 });
        // Some bytes are read twice.
        first.read(100);
        second.read(10);
        assert_eq!(TOTALS.reading(), Reading { bytes: 150, read: 110 });
        drop(first);
        assert_eq!(TOTALS.reading(), Reading { bytes: 50, read: 10 });
        drop(second);
        assert_eq!(TOTALS.reading(), Reading::default());
    }
}
