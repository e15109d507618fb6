//! The record of the model thread.

use std::io::{self, Write};

use crate::engine::{Entry, write_end, write_record};
use crate::panics;

/// Writes the record of a batch, if somebody wants it. A writer that fails gets nothing more.
#[derive(Default)]
pub(super) struct Recorder {
    to: Option<Box<dyn Write + Send>>,
    /// The entries written so far.
    entries: usize,
}

impl Recorder {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self { to: Some(Box::new(to)), entries: 0 }
    }

    pub(super) fn is_on(&self) -> bool {
        self.to.is_some()
    }

    /// Writes the entries of a step.
    pub(super) fn write(&mut self, entries: &[Entry]) {
        self.entries += entries.len();
        self.put(|to| write_record(entries, to));
    }

    /// Writes the last entry, and ends the record.
    pub(super) fn end(&mut self) {
        let entries = self.entries;
        self.put(|to| write_end(entries, to));
        self.drop_writer();
    }

    fn put(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let Some(to) = &mut self.to else {
            return;
        };
        let written = panics::contain("the writer of a record", || {
            write(to)?;
            to.flush()
        });
        if !matches!(written, Ok(Ok(()))) {
            self.drop_writer();
        }
    }

    fn drop_writer(&mut self) {
        panics::discard(self.to.take());
    }
}
