//! The beginning of a character comes out as a sign for what is no character.

pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut held = Vec::new();
    ids.iter()
        .map(|&id| {
            held.extend_from_slice(vocab[id as usize]);
            take_whole(&mut held)
        })
        .collect()
}

/// Takes the text that is whole out of what is held back.
fn take_whole(held: &mut Vec<u8>) -> String {
    let text = String::from_utf8_lossy(held).into_owned();
    held.clear();
    text
}
