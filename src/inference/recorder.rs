//! The record of the model thread.

use std::io::Write;

use crate::engine::{Entry, write_record};
use crate::panics;

/// Writes the record of a batch, if somebody wants it. A writer that fails gets nothing more.
#[derive(Default)]
pub(super) struct Recorder(Option<Box<dyn Write + Send>>);

impl Recorder {
    pub(super) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Some(Box::new(to)))
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Writes the entries of a step.
    pub(super) fn write(&mut self, entries: &[Entry]) {
        let Some(to) = &mut self.0 else {
            return;
        };
        let written = panics::contain("the writer of a record", || {
            write_record(entries, to)?;
            to.flush()
        });
        if !matches!(written, Ok(Ok(()))) {
            self.end();
        }
    }

    /// Ends the record.
    pub(super) fn end(&mut self) {
        panics::discard(self.0.take());
    }
}
