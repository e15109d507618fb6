//! Bytes come in pieces, characters must be whole.
//!
//! Why: the first byte of a character tells how many bytes it has, so you always know whether more
//! must come. `str::from_utf8` tells the two kinds of failure apart: without an `error_len`, the
//! bytes ended too early, and waiting helps. With one, that many bytes are wrong whatever follows,
//! and `�` can be given out at once. So you never hold back more than three bytes.
//!
//! What it costs: each byte is looked at once, and the held ones once more.
//!
//! A common wrong turn: decoding with `from_utf8_lossy` and holding back what ends in `�`. That
//! mark may stand for bytes that no later byte can repair, or be a character of the text, and then
//! the reader waits for nothing. Another: forgetting the end. The bytes that are held when the last
//! token has come are lost, and nobody notices, because most texts end with a full stop.

use std::str;

/// Turns the bytes of one text into characters while they come.
#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Takes the bytes of one more token, and returns the text that is now known.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        let mut done = 0;
        while done < self.held.len() {
            let rest = &self.held[done..];
            let (valid, wrong) = match str::from_utf8(rest) {
                Ok(_) => (rest.len(), Some(0)),
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            text.push_str(&String::from_utf8_lossy(&rest[..valid]));
            done += valid;
            match wrong {
                Some(0) => {}
                Some(count) => {
                    text.push('\u{FFFD}');
                    done += count;
                }
                // A character of which bytes are still to come.
                None => break,
            }
        }
        self.held.drain(..done);
        text
    }

    /// No more bytes come: what is still held.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}
