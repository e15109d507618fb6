//! No more than two bytes wait: a character of four never becomes whole.

pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut held = Vec::new();
    ids.iter()
        .map(|&id| {
            held.extend_from_slice(vocab[id as usize]);
            take_whole(&mut held)
        })
        .collect()
}

fn take_whole(held: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(held) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let text = String::from_utf8_lossy(&held[..whole]).into_owned();
    let n = held.len();
    let from = whole.max(n.saturating_sub(2));
    *held = held[from..].to_vec();
    text
}
