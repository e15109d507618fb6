//! Reading files that somebody else wrote: no more of them than such a file has, and nothing that
//! is no file.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Opens a file, or returns none where it does not exist.
///
/// # Errors
/// What is no regular file, and would not come to an end: a pipe waits for whoever writes to it,
/// and `/dev/zero` goes on for ever.
pub(crate) fn open(path: &Path) -> Result<Option<File>> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    // Before it is opened: to open a pipe would wait too.
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => File::open(path).map(Some).map_err(io),
        Ok(_) => Err(io(IoError::other("it is not a regular file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(error)),
    }
}

/// All bytes of a file, or none where it does not exist.
///
/// # Errors
/// As [`open`]; a file of more than `limit` bytes; one that cannot be read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    read_upto(file, limit)
        .map(Some)
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// All bytes that `from` has.
///
/// # Errors
/// More than `limit` of them; a reader that fails.
pub(crate) fn read_upto(from: impl Read, limit: usize) -> Result<Vec<u8>, IoError> {
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        Err(IoError::other(format!("it has more than {limit} bytes, the most that is read")))
    } else {
        Ok(bytes)
    }
}

/// Reads a file at any place, from several threads at once: fills a buffer with the bytes from a
/// place on. It fails where the file ends before the buffer is full.
#[cfg(unix)]
pub(crate) fn reader(file: File) -> impl Fn(u64, &mut [u8]) -> Result<(), IoError> + Sync {
    use std::os::unix::fs::FileExt;
    move |start, buffer| file.read_exact_at(buffer, start)
}

/// Reads a file at any place, one thread at a time: fills a buffer with the bytes from a place on.
/// It fails where the file ends before the buffer is full.
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
