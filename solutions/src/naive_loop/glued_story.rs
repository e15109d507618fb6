//! Bug hunt: a story that diverges.
//!
//! Why: the model chose ` s` and then `at`. Glued together they are ` sat`, and cutting that again
//! gives the one token ` sat`, which the model never chose. At the next step it is asked about
//! another sequence of ids, and gives another answer. So the loop has to keep the ids and append to
//! them. They become text on the way out, and that text never comes back in.
//!
//! What it costs: less than before. All of the text was cut anew at every step.
//!
//! A common wrong turn: cutting only the new piece, and appending the result. That is nearly always
//! the token that was chosen, but not if two tokens have the same text.

/// Writes `max_tokens` tokens after a prompt, always the most likely one, and returns their text
/// without the prompt.
///
/// `model` gives the logits of the next token, `[vocab]`, for the ids so far. `vocabulary` holds
/// the text of each token.
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
        story.push_str(vocabulary[next as usize]);
    }
    story
}

/// The ids of `text`: at each place the longest piece of the vocabulary that fits, and of equal
/// pieces the first.
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
