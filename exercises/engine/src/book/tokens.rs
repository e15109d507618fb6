//! Words to tokens, and ids to text.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    for &(left, right) in merges {
        let mut i = 1;
        while i < pieces.len() {
            if pieces[i - 1] == left && pieces[i] == right {
                let end = pieces.remove(i);
                pieces[i - 1].push_str(&end);
            }
            i += 1;
        }
    }
    pieces
}

pub fn detokenize(ids: &[u32], vocab: &[&[u8]], special: &[u32]) -> String {
    let mut bytes = Vec::new();
    for id in ids {
        if !special.contains(id) {
            bytes.extend_from_slice(vocab[*id as usize]);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
