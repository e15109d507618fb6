//! Bug hunt: a story that diverges.

/// Writes `max_tokens` tokens after a prompt, always the most likely one, and returns their text
/// without the prompt.
///
/// `model` gives the logits of the next token, `[vocab]`, for the ids so far. `vocabulary` holds
/// the text of each token, none of them empty; two tokens may have the same text. Text becomes ids
/// from left to right: at each place the longest piece that fits. Every text can be written with
/// the vocabulary, and a prompt has at least one character.
///
/// What was observed: there is another program, with the same model and vocabulary, that is known
/// to be right. With most prompts both write the same story. With others they begin alike, then
/// diverge for good. This one, of 5 tokens after `The`, goes wrong after ` sat`:
///
/// ```text
/// expected    " cat sat down."
/// found       " cat sat on on"
/// ```
///
/// The vocabulary of that model, with the ids as numbers:
///
/// ```text
/// 0 "The"   1 " cat"   2 " s"   3 "at"   4 " sat"   5 " down"   6 " on"   7 "."
/// ```
///
/// Find out why, and fix it. Cutting a prompt into tokens is right, and so is finding the best
/// token.
pub fn glued_story(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    vocabulary: &[&str],
    prompt: &str,
    max_tokens: usize,
) -> String {
    let mut text = prompt.to_owned();
    for _ in 0..max_tokens {
        let ids = encode(vocabulary, &text);
        let next = best(&model(&ids));
        text.push_str(vocabulary[next as usize]);
    }
    text.split_off(prompt.len())
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
