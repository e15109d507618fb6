//! From ids back to text.
//!
//! Why: a token is a piece of bytes, and a character may begin in one token and end in another. So
//! you collect the bytes first, and read them as text once.
//!
//! What it costs: one copy of the bytes, and one more if they are not UTF-8.
//!
//! A common wrong turn: turning each token into text by itself. English comes out right, but every
//! character that lies in two tokens becomes two `�`.

/// The text of some token ids. `vocab[id]` holds the bytes of a token, and the ids in `special`
/// stand for no text.
pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let text_ids = ids.iter().filter(|id| !special.contains(id));
    let bytes: Vec<u8> = text_ids.flat_map(|&id| vocab[id as usize]).copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
