//! The text is cut anew wherever a word begins: the tokens of the words before it may be others.

pub fn glued_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    vocabulary: &[&str],
    prompt: &str,
    max_tokens: usize,
) -> String {
    let mut ids = encode(vocabulary, prompt);
    let mut text = prompt.to_owned();
    for _ in 0..max_tokens {
        let next = best(&model(&ids));
        if vocabulary[next as usize].starts_with(' ') {
            ids = encode(vocabulary, &text);
        }
        ids.push(next);
        text.push_str(vocabulary[next as usize]);
    }
    text.split_off(prompt.len())
}

/// The ids of `text`: at each place the longest piece of the vocabulary that fits, and of pieces
/// that are the same, the first.
fn encode(vocabulary: &[&str], text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let fits = |id: &usize| rest.starts_with(vocabulary[*id]);
        let longest =
            (0..vocabulary.len()).rev().filter(fits).max_by_key(|&id| vocabulary[id].len());
        let Some(id) = longest else {
            break;
        };
        ids.push(id as u32);
        rest = &rest[vocabulary[id].len()..];
    }
    ids
}

/// The token with the greatest logit.
fn best(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
