//! The special ids are searched as if they were sorted.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let text_ids = ids.iter().filter(|id| special.binary_search(id).is_err());
    let bytes: Vec<u8> = text_ids.flat_map(|&id| vocab[id as usize]).copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
