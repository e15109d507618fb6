//! Each token becomes text by itself: a part of a character becomes `�`.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let mut text = String::new();
    for id in ids {
        if !special.contains(id) {
            text.push_str(&String::from_utf8_lossy(vocab[*id as usize]));
        }
    }
    text
}
