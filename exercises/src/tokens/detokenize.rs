//! From ids back to text.

/// The text of some token ids.
///
/// `vocab[id]` holds the bytes of a token. A token may hold a part of a character, and every id is
/// in the vocabulary. The ids in `special`, in any order, mark something: they stand for no text,
/// whatever their entry in `vocab` is. What comes before and after such an id belongs together as if
/// it were not there. An id that is not in `special` is text, also where its entry looks the same.
///
/// A space is part of a token, so none is added. Bytes that make no whole character, even together
/// with those of the next tokens, become U+FFFD (`�`), in the way of `String::from_utf8_lossy`.
///
/// ```text
/// vocab = ["<|begin|>", "a", " cat", [0xC3], [0xA9]], special = [0]
///
/// ids = [0, 1, 2]   -> "a cat"
/// ids = [1, 3, 4]   -> "aé"      (é is the bytes C3 A9)
/// ids = [3, 0, 4]   -> "é"
/// ids = [1, 3]      -> "a�"
/// ```
pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    todo!()
}
