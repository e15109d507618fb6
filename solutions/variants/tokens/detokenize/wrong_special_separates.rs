//! The bytes are read as text at each special token: it separates two parts of a character.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let text = |part: &[u32]| {
        let bytes: Vec<u8> = part.iter().flat_map(|&id| vocab[id as usize]).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    ids.split(|id| special.contains(id)).map(text).collect()
}
