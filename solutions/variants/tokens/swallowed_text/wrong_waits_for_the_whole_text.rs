//! A piece is given out only where the whole text so far ends with a whole character.

pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut given = 0;
    let piece = |&id: &u32| {
        bytes.extend_from_slice(vocab[id as usize]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.ends_with('\u{FFFD}') {
            return String::new();
        }
        let piece = text[given..].to_owned();
        given = text.len();
        piece
    };
    ids.iter().map(piece).collect()
}
