//! The model is given the new tokens only, once there are some.

pub fn glued_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    vocabulary: &[&str],
    prompt: &str,
    max_tokens: usize,
) -> String {
    let mut ids = Vec::new();
    for _ in 0..max_tokens {
        let next = if ids.is_empty() {
            best(&model(&encode(vocabulary, prompt)))
        } else {
            best(&model(&ids))
        };
        ids.push(next);
    }
    ids.iter().map(|&id| vocabulary[id as usize]).collect()
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
