//! The two newest tokens become one where the vocabulary has one with their text.

pub fn glued_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    vocabulary: &[&str],
    prompt: &str,
    max_tokens: usize,
) -> String {
    let mut ids = encode(vocabulary, prompt);
    let mut story = String::new();
    for _ in 0..max_tokens {
        let next = best(&model(&ids));
        ids.push(next);
        let n = ids.len();
        if n >= 2 && n > encode(vocabulary, prompt).len() + 1 {
            let t =
                format!("{}{}", vocabulary[ids[n - 2] as usize], vocabulary[ids[n - 1] as usize]);
            if let Some(i) = vocabulary.iter().position(|v| *v == t) {
                ids.truncate(n - 2);
                ids.push(i as u32);
            }
        }
        story.push_str(vocabulary[next as usize]);
    }
    story
}

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

fn best(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
