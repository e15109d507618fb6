//! By the chunks of the standard library, of which only the last can be incomplete.

use std::str;

#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut text = String::new();
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let is_begun = str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && is_begun {
                self.held = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push('\u{FFFD}');
            }
        }
        text
    }

    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
