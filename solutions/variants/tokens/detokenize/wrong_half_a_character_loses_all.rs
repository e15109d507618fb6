//! One half character, and the whole text is gone.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let mut bytes = Vec::new();
    for id in ids.iter().filter(|id| !special.contains(id)) {
        bytes.extend_from_slice(vocab[*id as usize]);
    }
    String::from_utf8(bytes).unwrap_or_default()
}
