//! `Bearer` need not end with a space.

use std::cell::Cell;

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

    pub fn byte(&self, i: usize) -> u8 {
        self.reads.set(self.reads.get() + 1);
        self.bytes[i]
    }

    pub fn reads(&self) -> usize {
        self.reads.get()
    }
}

pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, key) = authorization.split_at_checked(6)?;
    let key = key.trim_start_matches(' ');
    let well_formed =
        scheme.eq_ignore_ascii_case("Bearer") && !key.is_empty() && !key.contains(' ');
    well_formed.then_some(key)
}

pub fn same(given: &Counted, key: &Counted) -> bool {
    if given.length() != key.length() {
        return false;
    }
    let difference = (0..key.length()).fold(0, |sum, i| sum | (given.byte(i) ^ key.byte(i)));
    difference == 0
}
