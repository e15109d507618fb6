//! The flag that keeps a record of a run.

use std::path::PathBuf;

use clap::Args;
use slowburn::engine::{self, Entry};

use super::{Error, Result};

/// The flag of an example that runs a batch.
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// Record the events, plans and results of the engine, as JSON lines: `cargo xtask replay`
    /// repeats them
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl RecordArgs {
    /// Writes a record, if one was asked for.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, entries: &[Entry]) -> Result<()> {
        let Some(path) = &self.record else {
            return Ok(());
        };
        let mut lines = Vec::new();
        let written = engine::write_record(entries, &mut lines);
        let written = written.and_then(|()| engine::write_end(entries.len(), &mut lines));
        let written = written.and_then(|()| std::fs::write(path, lines));
        written.map_err(|source| Error::Write { path: path.clone(), source })
    }
}
