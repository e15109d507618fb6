//! Whether a file that came is what the hub has.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// What came.
pub(super) enum Arrival {
    /// All of it and, as far as the hub tells, nothing else.
    Whole,
    /// More than there are. They were removed.
    TooLong,
    /// This many bytes, which is not how many there are. They were removed.
    OtherSize(u64),
    /// As many bytes as there are, but others: their SHA-256. They were removed.
    Damaged { found: String, expected: String },
}

/// Checks the file at `path`, a link to where its bytes are.
///
/// # Errors
/// A file that cannot be read or removed.
pub(super) fn check(path: &Path, size: u64, etag: &str) -> io::Result<Arrival> {
    let found = fs::metadata(path)?.len();
    if found != size {
        remove(path)?;
        return Ok(Arrival::OtherSize(found));
    }
    let Some(expected) = expected_sha256(etag) else {
        return Ok(Arrival::Whole);
    };
    let found = sha256(path)?;
    if found == expected {
        return Ok(Arrival::Whole);
    }
    remove(path)?;
    Ok(Arrival::Damaged { found, expected })
}

/// The SHA-256 that an ETag stands for. The hub keeps weights apart from their repository, by
/// their SHA-256. The ETag of a smaller file is another hash, of 40 digits.
fn expected_sha256(etag: &str) -> Option<String> {
    let is_hash = etag.len() == 64 && etag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| etag.to_ascii_lowercase())
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// Removes a link and what it leads to. What stayed would be taken for whole by the next run.
fn remove(path: &Path) -> io::Result<()> {
    let bytes = path.canonicalize()?;
    fs::remove_file(path)?;
    // Where links are not allowed, `path` was the file itself.
    if bytes.exists() {
        fs::remove_file(bytes)
    } else {
        Ok(())
    }
}
