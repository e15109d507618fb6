//! The small files of a model folder.

use std::path::Path;

use crate::error::{Error, LoadError, Result};
use crate::files;

/// The bytes of a file, or none where it does not exist.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    /// Several times the size of the largest published files, in bytes.
    const MOST: usize = 64 << 20;
    const MOST_OF_A_TOKENIZER: usize = 256 << 20;
    let limit = match name {
        "tokenizer.json" => MOST_OF_A_TOKENIZER,
        _ => MOST,
    };
    files::read(&folder.join(name), limit)
}

pub(crate) fn not_a_model(folder: &Path, missing: &'static str) -> Error {
    Error::Load(LoadError::NotAModel { folder: folder.to_owned(), missing })
}
