//! A special token is told by how it is written.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let tokens = ids.iter().map(|&id| vocab[id as usize]);
    let bytes: Vec<u8> =
        tokens.filter(|token| !token.starts_with(b"<|")).flatten().copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
