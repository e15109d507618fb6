//! No new token: 0 - 1 goes below zero.

/// How many positions a loop runs through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// All that the naive loop reads, at all its steps together.
    pub naive: u64,
    /// Those of them that it reads for the first time.
    pub first_time: u64,
}

pub fn positions_read(prompt: u32, new_tokens: u32) -> Positions {
    let (prompt, n) = (u64::from(prompt), u64::from(new_tokens));
    Positions {
        naive: n * prompt + n * (n - 1) / 2,
        first_time: prompt + n - 1,
    }
}
