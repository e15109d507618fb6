//! From ids back to text.

/// The text of some token ids.
///
/// `vocab[id]` holds the bytes of a token. A token may hold a part of a character, and every id is
/// in the vocabulary. The ids in `special` mark something: they stand for no text, whatever their
/// entry in `vocab` is.
///
/// A space is part of a token, so none is added. Bytes that make no whole character, even together
/// with those of the next tokens, become U+FFFD (`�`), in the way of `String::from_utf8_lossy`.
///
/// ```text
/// vocab = ["<|begin|>", "a", " cat", [0xC3], [0xA9]], special = [0]
///
/// ids = [0, 1, 2]   -> "a cat"
/// ids = [1, 3, 4]   -> "aé"      (é is the bytes C3 A9)
/// ids = [1, 3]      -> "a�"
/// ```
pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    todo!()
}
