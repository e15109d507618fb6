//! A file of weights, open and read by ranges.

use std::path::Path;

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
        let read_at = Box::new(files::reader(file));
        Ok(Some(Self { origin: format!("{path:?}"), length, read_at }))
    }
}
