//! The GGUF model in a folder that has no other.

use std::path::{Path, PathBuf};

use super::part_name::PartName;
use crate::error::{LoadError, Result};

/// The file of the one GGUF model in a folder, or the first that is there of its parts. None where
/// the folder has no GGUF file, or is a model in the format of Hugging Face.
///
/// # Errors
/// Several models.
pub(crate) fn find_in_folder(folder: &Path) -> Result<Option<PathBuf>> {
    if folder.join("config.json").exists() {
        return Ok(None);
    }
    // A folder that cannot be read is reported when its files are read.
    let Ok(entries) = folder.read_dir() else {
        return Ok(None);
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_gguf(name)).collect();
    names.sort_unstable();
    // Parts follow each other in this order.
    names.dedup_by(|name, before| {
        let parts = PartName::parse(name).zip(PartName::parse(before));
        parts.is_some_and(|(name, before)| name.is_beside(&before))
    });
    match names.as_slice() {
        [] => Ok(None),
        [name] => Ok(Some(folder.join(name))),
        _ => Err(LoadError::SeveralGguf { folder: folder.to_owned(), names }.into()),
    }
}

fn is_gguf(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}
