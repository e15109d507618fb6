//! Byte by byte, and a copy only where the bytes are not text.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let mut bytes = Vec::new();
    for &id in ids {
        if special.iter().any(|&mark| mark == id) {
            continue;
        }
        bytes.extend_from_slice(vocab[id as usize]);
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
