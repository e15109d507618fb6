//! Bytes come in pieces, characters must be whole.

/// Turns the bytes of one text into characters while they come. `held` is for the bytes that are
/// not given out yet: it is a proposal, and it is all you need.
#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Your reader sees a token the moment it is there. But the token may end in the middle of a
    /// character, and half an apple is no text. Take the bytes of one more token, and return the
    /// text that is now known.
    ///
    /// - A character is given out with the piece that completes it. Hold back only the beginning of
    ///   a character at the very end, and nothing before it.
    /// - Bytes that are no character, whatever may follow, become U+FFFD, `�`, as soon as that is
    ///   known. So a held beginning becomes `�` when a byte comes that doesn't continue it.
    /// - A piece may be empty, and it may hold several characters.
    ///
    /// All pieces together, including the one from [`finish`](Self::finish), are what
    /// `String::from_utf8_lossy` gives for all bytes at once. It has one `�` for each beginning of
    /// a character that is broken off, however long, and one for each other byte that is wrong.
    ///
    /// ```text
    /// the apple 🍎 is F0 9F 8D 8E
    ///
    /// push  61 F0     "a"
    /// push  9F 8D     ""
    /// push  8E 62     "🍎b"
    /// push  F0 9F     ""
    /// push  63 FF     "�c�"
    /// push  F0        ""
    /// finish          "�"
    /// ```
    pub fn push(&mut self, bytes: &[u8]) -> String {
        todo!()
    }

    /// No more bytes come: return what is still held, as `String::from_utf8_lossy` gives it.
    pub fn finish(self) -> String {
        todo!()
    }
}
