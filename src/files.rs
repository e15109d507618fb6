//! Reading untrusted files: regular files only, up to a size limit.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::Path;

use crate::error::{Error, LoadError, Result};

/// Opens a file, or returns `None` if it does not exist.
///
/// # Errors
/// A path that is not a regular file, which might never end: a pipe blocks until a writer appears,
/// and `/dev/zero` is endless.
pub(crate) fn open(path: &Path) -> Result<Option<File>> {
    let io = |source| Error::Load(LoadError::Io { path: path.to_owned(), source });
    // Checked before opening, because opening a pipe blocks too.
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => File::open(path).map(Some).map_err(io),
        Ok(_) => Err(io(IoError::other("it is not a regular file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(error)),
    }
}

/// Reads a file, or returns `None` if it does not exist.
///
/// # Errors
/// As [`open`]; a file of more than `limit` bytes; a file that cannot be read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    read_upto(file, limit)
        .map(Some)
        .map_err(|source| Error::Load(LoadError::Io { path: path.to_owned(), source }))
}

/// Reads `from` to its end.
///
/// # Errors
/// More than `limit` bytes; a reader that fails.
pub(crate) fn read_upto(from: impl Read, limit: usize) -> Result<Vec<u8>, IoError> {
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        Err(IoError::other(format!("it has more than {limit} bytes, the most that is read")))
    } else {
        Ok(bytes)
    }
}

/// Positioned reads, from several threads at once: fills a buffer from an offset on, and fails if
/// the file ends before the buffer is full.
#[cfg(unix)]
pub(crate) fn reader(file: File) -> impl Fn(u64, &mut [u8]) -> Result<(), IoError> + Sync {
    use std::os::unix::fs::FileExt;
    move |start, buffer| file.read_exact_at(buffer, start)
}

/// Positioned reads, one thread at a time: fills a buffer from an offset on, and fails if the file
/// ends before the buffer is full.
#[cfg(not(unix))]
pub(crate) fn reader(file: File) -> impl Fn(u64, &mut [u8]) -> Result<(), IoError> + Sync {
    use std::io::{Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    let file = Mutex::new(file);
    move |start, buffer| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(read(&path, 4).unwrap().is_none());
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap().unwrap(), b"four");
        let error = read(&path, 3).unwrap_err().to_string();
        assert!(error.contains("more than 3 bytes"), "{error}");
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("not a regular file"));
        #[cfg(unix)]
        assert!(read(Path::new("/dev/zero"), 10).is_err());
    }
}
