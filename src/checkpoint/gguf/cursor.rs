//! Reads the header of a file from its beginning to its end.

use std::io;

use crate::checkpoint::safetensors::ReadAt;
use crate::error::{Error, LoadError, Result};

/// The largest size of a header, in bytes. Most of it is the vocabulary: 10 MB in large models.
pub(super) const MOST_HEADER: u64 = 100_000_000;

/// The bytes that are read from the file at once.
const WINDOW: usize = 1 << 16;

/// A position in a header. Each read checks that the file has as many bytes left before it
/// allocates memory for them.
pub(super) struct Cursor<'a> {
    read_at: &'a ReadAt<'a>,
    /// The size of the whole file, in bytes.
    length: u64,
    position: u64,
    /// The bytes of the file from `window_start` on.
    window: Vec<u8>,
    window_start: u64,
    origin: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(length: u64, read_at: &'a ReadAt<'a>, origin: &'a str) -> Self {
        Self {
            read_at,
            length,
            position: 0,
            window: Vec::new(),
            window_start: 0,
            origin,
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// An error that names the file.
    pub(super) fn damaged(&self, problem: String) -> Error {
        Error::Load(LoadError::Gguf { origin: self.origin.to_owned(), problem })
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A text: its length in bytes, then UTF-8.
    pub(super) fn text(&mut self) -> Result<String> {
        let start = self.position;
        let text = self.text_or_none()?;
        text.ok_or_else(|| self.damaged(format!("the text at byte {start} is not UTF-8")))
    }

    /// As [`text`](Self::text), or none where it is not UTF-8.
    pub(super) fn text_or_none(&mut self) -> Result<Option<String>> {
        let length = self.u64()?;
        Ok(String::from_utf8(self.bytes(length)?).ok())
    }

    /// As many bytes.
    pub(super) fn bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        self.check_left(length)?;
        // `check_left` has limited the length to that of a header.
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Passes over as many bytes.
    pub(super) fn skip(&mut self, length: u64) -> Result<()> {
        self.check_left(length)?;
        self.position += length;
        Ok(())
    }

    /// Checks that `count` entries of at least `size` bytes each can follow.
    pub(super) fn check_count(&self, count: u64, size: u64, what: &str) -> Result<()> {
        let left = self.length - self.position;
        match count.checked_mul(size) {
            Some(bytes) if bytes <= left => Ok(()),
            _ => Err(self.damaged(format!(
                "it should have {count} {what} from byte {} on, but only {left} bytes follow",
                self.position
            ))),
        }
    }

    fn check_left(&self, length: u64) -> Result<()> {
        let (position, left) = (self.position, self.length - self.position);
        if length > left {
            return Err(self.damaged(format!(
                "{length} bytes should follow byte {position} of its header, but only {left} do"
            )));
        }
        if position + length > MOST_HEADER {
            let problem = format!("its header has more than {MOST_HEADER} bytes, the most read");
            return Err(self.damaged(problem));
        }
        Ok(())
    }

    fn fill(&mut self, to: &mut [u8]) -> Result<()> {
        self.check_left(to.len() as u64)?;
        if to.len() > WINDOW {
            (self.read_at)(self.position, to).map_err(|error| self.unreadable(&error))?;
        } else {
            let offset = self.offset_in_window(to.len())?;
            to.copy_from_slice(&self.window[offset..][..to.len()]);
        }
        self.position += to.len() as u64;
        Ok(())
    }

    /// Where the next `length` bytes are in the window, which moves if they are not all inside.
    fn offset_in_window(&mut self, length: usize) -> Result<usize> {
        let end = self.window_start + self.window.len() as u64;
        if self.position + length as u64 <= end {
            return Ok((self.position - self.window_start) as usize);
        }
        let left = self.length - self.position;
        self.window.resize(left.min(WINDOW as u64) as usize, 0);
        self.window_start = self.position;
        let read = (self.read_at)(self.position, &mut self.window);
        read.map_err(|error| self.unreadable(&error))?;
        Ok(0)
    }

    fn unreadable(&self, error: &io::Error) -> Error {
        self.damaged(format!("its header cannot be read: {error}"))
    }
}
