//! The incomplete end is cut off first, and the rest is decoded at once.

use std::str;

#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let is_begun = |&count: &usize| {
            let end = &self.held[self.held.len() - count..];
            str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        };
        let held = (1..=3.min(self.held.len())).rev().find(is_begun).unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - held);
        let whole = std::mem::replace(&mut self.held, rest);
        String::from_utf8_lossy(&whole).into_owned()
    }

    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
