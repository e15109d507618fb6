//! Conversations in files.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::conversation::Conversation;
use super::error::{Error, Result};

/// The most bytes that are read of a file.
const MOST_READ: u64 = 64 << 20;

/// Writes a conversation, whole or not at all.
///
/// # Errors
/// A file that is there already, unless `replace` says that it may be; a folder that cannot be written.
pub fn save(conversation: &Conversation, path: &Path, replace: bool) -> Result<()> {
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
        _ => Error::Write { path: path.to_owned(), source },
    };
    // Beside the file, as only there a file gets another name in one step.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    file.write_all(conversation.to_json().as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    let saved = if replace {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    saved.map(|_| ()).map_err(|error| failed(error.error))
}

/// Reads a conversation.
///
/// # Errors
/// A file that cannot be read, or that holds something else.
pub fn load(path: &Path) -> Result<Conversation> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_READ + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_READ {
            return Err(io::Error::other(format!("it has more than {MOST_READ} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    };
    let json = read().map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let wrong = |source| Error::NotAConversation { path: path.to_owned(), source };
    Conversation::from_json(&json).map_err(wrong)
}
