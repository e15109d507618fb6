//! Whether a client has the API key.

use std::cell::Cell;

/// Bytes, with a count of how often one of them was read. So a test can tell, without a clock, what
/// a comparison depends on.
#[derive(Debug)]
pub struct Counted<'a> {
    bytes: &'a [u8],
    reads: Cell<usize>,
}

impl<'a> Counted<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, reads: Cell::new(0) }
    }

    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Byte `i`. Use this, and not the field.
    pub fn byte(&self, i: usize) -> u8 {
        self.reads.set(self.reads.get() + 1);
        self.bytes[i]
    }

    pub fn reads(&self) -> usize {
        self.reads.get()
    }
}

/// Who is asking? Return the key in the value of an `Authorization` header: `Bearer`, one or more
/// spaces, and the key. Large and small letters make no difference in `Bearer`, but in the key they
/// do. The key has at least one character, and no space within it or behind it. `None` for any
/// other header, and a tab is no space. It comes from outside: nothing in it may cause a panic.
///
/// ```text
/// bearer("Bearer sk-1")    Some("sk-1")
/// bearer("Basic sk-1")     None
/// ```
pub fn bearer(authorization: &str) -> Option<&str> {
    todo!()
}

/// Whether `given` is the key. The catch: how long that takes must not tell how much of it is
/// right, or keys could be guessed byte by byte. So if both have the same length, read each byte of
/// both exactly once, whatever the bytes are. The length of the key is no secret.
pub fn same(given: &Counted, key: &Counted) -> bool {
    todo!()
}
