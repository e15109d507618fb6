//! What the naive loop costs, counted in positions.
//!
//! Why: step `s`, counted from 0, reads `prompt + s` positions. The prompt is read in each of the
//! `n` steps, which is `n * prompt`. The new tokens add 0, 1, 2 and so on up to `n - 1`, whose sum
//! is `n * (n - 1) / 2`. And how much of it for the first time? The last step reads the longest
//! text, and each of its positions was new at some step: `prompt + n - 1`.
//!
//! What it costs: two multiplications. The loop that it describes costs the square of its length.
//!
//! A common wrong turn: computing with `u32` and converting the result. By then it has overflowed:
//! the product of 100,000 and 99,999 has ten digits.

/// How many positions a loop runs through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// All positions that the naive loop reads, in all its steps together.
    pub naive: u64,
    /// How many of these it reads for the first time.
    pub first_time: u64,
}

/// Counts the positions that the naive loop reads to write `new_tokens` tokens after a prompt of
/// `prompt` tokens, each up to a million.
pub fn positions_read(prompt: u32, new_tokens: u32) -> Positions {
    if new_tokens == 0 {
        return Positions { naive: 0, first_time: 0 };
    }
    let (prompt, n) = (u64::from(prompt), u64::from(new_tokens));
    Positions {
        naive: n * prompt + n * (n - 1) / 2,
        first_time: prompt + n - 1,
    }
}
