//! The steps are gone through one by one.

/// How many positions a loop runs through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Positions {
    /// All that the naive loop reads, at all its steps together.
    pub naive: u64,
    /// Those of them that it reads for the first time.
    pub first_time: u64,
}

pub fn positions_read(prompt: u32, new_tokens: u32) -> Positions {
    let mut positions = Positions { naive: 0, first_time: 0 };
    for step in 0..u64::from(new_tokens) {
        let read = u64::from(prompt) + step;
        positions.naive += read;
        positions.first_time = read;
    }
    positions
}
