//! Prompt lookup: a draft without a second model.
//!
//! Why: text repeats itself when it quotes, lists, or continues code, and a name that has come once
//! comes again in the same tokens. You search the longest end first, because the more tokens agree,
//! the more likely the next one agrees too. Of several occurrences, the last one is nearest to what
//! is being written.
//!
//! What it costs: a walk through the text for each length, far less than one pass of a model. An
//! index from n-grams to places makes it independent of the length of the text.
//!
//! A common wrong turn: finding the end of the text itself. It is the last occurrence of its
//! tokens, and nothing follows it, so every guess is empty.

/// How far prompt lookup searches, and how much it guesses.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    /// The fewest tokens that have to be equal, at least 1.
    pub shortest: usize,
    /// The most tokens that are compared, at least `shortest`. It may exceed the length of the
    /// text.
    pub longest: usize,
    /// The most tokens that are guessed.
    pub most: usize,
}

/// Guesses the next tokens of a text: finds its last tokens earlier in the text, and takes what
/// followed them there.
pub fn prompt_lookup(text: &[u32], lookup: Lookup) -> Vec<u32> {
    let Lookup { shortest, longest, most } = lookup;
    for n in (shortest..=longest.min(text.len())).rev() {
        let end = &text[text.len() - n..];
        // Without the last token, the last window is not the end itself.
        let earlier = &text[..text.len() - 1];
        if let Some(start) = earlier.windows(n).rposition(|window| window == end) {
            return text[start + n..].iter().take(most).copied().collect();
        }
    }
    Vec::new()
}
