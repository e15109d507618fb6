//! The names of the special tokens are written into the text.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let bytes: Vec<u8> = ids.iter().flat_map(|&id| vocab[id as usize].to_vec()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
