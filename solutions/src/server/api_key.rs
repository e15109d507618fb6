//! Whether a client has the API key.
//!
//! Why: a comparison that stops at the first wrong byte takes longer the more bytes are right. An
//! attacker who can measure that finds the first byte with 256 attempts, then the second. Over a
//! network each takes many measurements, but attackers have done it. So you collect the differences
//! of all bytes, and look only at their sum. And you compare the header as text, without an index
//! into it: a slice of a `str` panics if it cuts a character.
//!
//! What it costs: reading the whole key at each request, which is nothing next to the request. In a
//! server, use the crate `subtle`: a compiler may notice that the loop can end early, and that
//! crate is written so that it doesn't.
//!
//! A common wrong turn: `given == key`. Another is `zip`, which ends with the shorter of both: then
//! every beginning of the key is a key, even the empty one.

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

/// The key in the value of an `Authorization` header: `Bearer`, one or more spaces, and the key.
/// Large and small letters are the same in `Bearer`, and differ in the key. The key has at least
/// one character, and no space within it or behind it. `None` if the header says anything else. It
/// comes from outside: nothing in it may cause a panic.
pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, key) = authorization.split_once(' ')?;
    let key = key.trim_start_matches(' ');
    let well_formed =
        scheme.eq_ignore_ascii_case("Bearer") && !key.is_empty() && !key.contains(' ');
    well_formed.then_some(key)
}

/// Whether `given` is the key. The catch: how long that takes must not tell how much of it is
/// right, or keys could be guessed byte by byte. So if both have the same length, read each byte of
/// both exactly once, whatever the bytes are. The length of the key is no secret.
pub fn same(given: &Counted, key: &Counted) -> bool {
    if given.length() != key.length() {
        return false;
    }
    // No `&&`: it would end at the first difference.
    let difference = (0..key.length()).fold(0, |sum, i| sum | (given.byte(i) ^ key.byte(i)));
    difference == 0
}
