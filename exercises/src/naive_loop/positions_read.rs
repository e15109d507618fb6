//! What the naive loop costs, counted in positions.

/// How many positions a loop runs through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// All positions that the naive loop reads, in all its steps together.
    pub naive: u64,
    /// How many of these it reads for the first time.
    pub first_time: u64,
}

/// How wasteful is the naive loop? Count the positions that it reads to write `new_tokens` tokens
/// after a prompt of `prompt` tokens.
///
/// Each step reads the whole text so far and chooses one token, so there are `new_tokens` steps.
/// The token that is chosen last is never read.
///
/// - `prompt` is from 1 to 1,000,000, and `new_tokens` from 0 to 1,000,000. The counts must be
///   right for all of them.
/// - Without a new token there is no step, and nothing is read.
///
/// ```text
/// a prompt of 2 tokens, 3 new ones:   step 0 reads  p p
///                                     step 1 reads  p p n
///                                     step 2 reads  p p n n
///
/// positions_read(2, 3)   -> naive 9, first_time 4
/// positions_read(5, 60)  -> naive 2070, first_time 64
/// ```
pub fn positions_read(prompt: u32, new_tokens: u32) -> Positions {
    todo!()
}
