//! Prompt lookup: a draft without a second model.

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

/// Texts repeat names and phrases, and a draft model is expensive. So guess without one: find the
/// text's last tokens earlier in the text, and take what followed them there.
///
/// - Search the text for its last `n` tokens. `n` is `longest` at first, and one less each time
///   that you don't find them, down to `shortest`.
/// - An occurrence begins before the last `n` tokens do, and may overlap them.
/// - Of several occurrences, the one that begins last counts, even if fewer tokens follow it.
/// - The guess is what follows that occurrence: `most` tokens, or fewer if the text ends.
/// - If you find nothing, the guess is empty.
///
/// ```text
/// text  5 1 2 3 9 1 2 4 7 1 2       shortest 1, longest 3, most 3
///
/// n 3   7 1 2    occurs nowhere else
/// n 2   1 2      occurs at 1 and at 5: the guess is what follows the later one, 4 7 1
/// ```
pub fn prompt_lookup(text: &[u32], lookup: Lookup) -> Vec<u32> {
    todo!()
}
