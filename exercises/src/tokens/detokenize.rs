//! From ids back to text.

/// Your model writes ids, and its reader wants text. So turn the ids back into a `String`.
///
/// `vocab[id]` holds the bytes of a token, and every id is in the vocabulary. A space is part of a
/// token, so you add none. The catch: a token may hold only a part of a character.
///
/// - The ids in `special`, in any order, mark something and stand for no text, whatever their entry
///   in `vocab` is. What comes before and after such an id belongs together, as if the id were not
///   there.
/// - An id that is not in `special` is text, even if its entry looks like a marker.
/// - Bytes that make no whole character, even together with the bytes of the next tokens, become
///   U+FFFD (`�`), as `String::from_utf8_lossy` does it.
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
