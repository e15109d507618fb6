//! Incremental decoding of bytes into whole characters.

/// The longest UTF-8 encoding of a character, in bytes.
pub(super) const LONGEST_CHARACTER: usize = 4;

/// The bytes of an incomplete character.
#[derive(Debug)]
pub(super) struct ByteBuffer {
    bytes: Vec<u8>,
    /// The bytes are from the prompt, whose text already shows U+FFFD for them.
    shown: bool,
}

impl ByteBuffer {
    /// A buffer for the bytes that follow; the text of `bytes` is not repeated.
    pub(super) fn after(bytes: &[u8]) -> Self {
        let bytes = bytes[bytes.len() - unfinished(bytes)..].to_vec();
        Self { shown: !bytes.is_empty(), bytes }
    }

    /// Appends the bytes of a token and returns the text that is now complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.bytes.extend_from_slice(bytes);
        let whole = self.bytes.len() - unfinished(&self.bytes);
        let text = String::from_utf8_lossy(&self.bytes[..whole]).into_owned();
        self.bytes.drain(..whole);
        self.without_shown(text)
    }

    /// Whether bytes are held back.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn is_within_character(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// The text of the remaining bytes, with U+FFFD for an incomplete character.
    pub(super) fn finish(mut self) -> String {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        self.without_shown(text)
    }

    fn without_shown(&mut self, text: String) -> String {
        if text.is_empty() || !std::mem::take(&mut self.shown) {
            return text;
        }
        text.strip_prefix(char::REPLACEMENT_CHARACTER).map(str::to_owned).unwrap_or(text)
    }
}

/// The number of bytes at the end that begin an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    let begins_one = |&n: &usize| {
        let end = &bytes[bytes.len() - n..];
        // An error without a length means that bytes are missing, not wrong.
        str::from_utf8(end)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..LONGEST_CHARACTER.min(bytes.len() + 1)).find(begins_one).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_may_become_a_character_is_unfinished() {
        assert_eq!(unfinished(b""), 0);
        assert_eq!(unfinished(b"a"), 0);
        assert_eq!(unfinished(b"a\xC3"), 1);
        assert_eq!(unfinished("é".as_bytes()), 0);
        assert_eq!(unfinished(b"a\xF0\x9F\x8D"), 3);
        assert_eq!(unfinished("🍎".as_bytes()), 0);
        // Bytes that begin no character: a continuation byte, an invalid byte, a surrogate.
        assert_eq!(unfinished(b"\x9F"), 0);
        assert_eq!(unfinished(b"\xFF"), 0);
        assert_eq!(unfinished(b"\xED\xA0"), 0);
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_whole(
            // Mostly bytes of multi-byte characters.
            bytes in prop::collection::vec(prop_oneof![0x80..=0xFFu8, any::<u8>()], 0..40),
            split in any::<prop::sample::Index>(),
        ) {
            let mut buffer = ByteBuffer::after(&[]);
            let mut text = String::new();
            let split = split.index(bytes.len() + 1);
            bytes[..split].iter().for_each(|&byte| text += &buffer.push(&[byte]));
            text += &buffer.push(&bytes[split..]);
            prop_assert!(buffer.bytes.len() < LONGEST_CHARACTER);
            text += &buffer.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
