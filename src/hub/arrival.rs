//! Verification of a downloaded file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

/// The state of a downloaded file.
pub(super) enum Arrival {
    /// Complete and, as far as the hub provides a hash, intact.
    Whole,
    /// Longer than announced. The file was removed.
    TooLong,
    /// This many bytes, which is not the announced size. The file was removed.
    OtherSize(u64),
    /// The announced size, but a different SHA-256. The file was removed.
    Damaged { found: String, expected: String },
}

/// Verifies the file at `path`, a link to the blob. `hashed` counts the bytes as they are read: of a
/// large file that takes minutes.
///
/// # Errors
/// A file that cannot be read or removed.
pub(super) fn check(path: &Path, size: u64, etag: &str, hashed: &AtomicU64) -> io::Result<Arrival> {
    let found = fs::metadata(path)?.len();
    if found != size {
        remove(path)?;
        return Ok(Arrival::OtherSize(found));
    }
    let Some(expected) = expected_sha256(etag) else {
        return Ok(Arrival::Whole);
    };
    let found = sha256(path, hashed)?;
    if found == expected {
        return Ok(Arrival::Whole);
    }
    remove(path)?;
    Ok(Arrival::Damaged { found, expected })
}

/// The SHA-256 in an ETag. The hub stores weights outside the repository, addressed by SHA-256. The
/// ETag of a smaller file is another hash, of 40 digits.
fn expected_sha256(etag: &str) -> Option<String> {
    let is_hash = etag.len() == 64 && etag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| etag.to_ascii_lowercase())
}

fn sha256(path: &Path, hashed: &AtomicU64) -> io::Result<String> {
    /// How many bytes are counted at a time.
    const PIECE: u64 = 1 << 20;
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    loop {
        match io::copy(&mut file.by_ref().take(PIECE), &mut hash)? {
            0 => return Ok(format!("{:x}", hash.finalize())),
            bytes => hashed.fetch_add(bytes, Ordering::Relaxed),
        };
    }
}

/// Removes a link and its target. A later run would take a remaining file as complete.
fn remove(path: &Path) -> io::Result<()> {
    let bytes = path.canonicalize()?;
    fs::remove_file(path)?;
    // Without support for links, `path` was the file itself.
    if bytes.exists() {
        fs::remove_file(bytes)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several pieces, of which the last is short.
    #[test]
    fn the_bytes_of_a_hash_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let bytes = vec![7_u8; (5 << 19) + 1];
        fs::write(&path, &bytes).unwrap();
        let (etag, hashed) = (format!("{:x}", Sha256::digest(&bytes)), AtomicU64::new(0));
        let arrival = check(&path, bytes.len() as u64, &etag, &hashed).unwrap();
        assert!(matches!(arrival, Arrival::Whole));
        assert_eq!(hashed.into_inner(), bytes.len() as u64);
    }
}
