//! Keeps all bytes, and remembers how many are out.

pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut out = 0;
    let mut pieces = Vec::new();
    for &id in ids {
        bytes.extend_from_slice(vocab[id as usize]);
        let first = bytes.utf8_chunks().next();
        let whole = first.map_or("", |chunk| chunk.valid());
        pieces.push(whole[out..].to_owned());
        out = whole.len();
    }
    pieces
}
