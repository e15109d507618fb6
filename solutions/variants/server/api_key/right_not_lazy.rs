//! `&`, which looks at both sides, and not `&&`. The header is split at its white space.

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
    let mut words = authorization.splitn(2, ' ');
    let scheme = words.next()?.to_lowercase();
    let key = words.next()?.trim_start_matches(' ');
    let is_key = key.chars().next().is_some() && key.chars().all(|character| character != ' ');
    if scheme == "bearer" && is_key {
        Some(key)
    } else {
        None
    }
}

pub fn same(given: &Counted, key: &Counted) -> bool {
    if given.length() != key.length() {
        return false;
    }
    (0..key.length()).fold(true, |equal, i| equal & (given.byte(i) == key.byte(i)))
}
