//! Tokens are taken for words: a space stands between any two.

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let tokens: Vec<&[u8]> =
        ids.iter().filter(|id| !special.contains(id)).map(|&id| vocab[id as usize]).collect();
    String::from_utf8_lossy(&tokens.join(&b' ')).into_owned()
}
