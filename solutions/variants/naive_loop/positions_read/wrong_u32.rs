//! Computed in u32, where large counts wrap round, and converted too late.

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
    let (prompt, n) = (prompt, new_tokens);
    let naive = n.wrapping_mul(prompt).wrapping_add(n.wrapping_mul(n - 1) / 2);
    Positions {
        naive: u64::from(naive),
        first_time: u64::from(prompt + n - 1),
    }
}
