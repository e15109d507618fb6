//! Copies are looked for only where a multiple of the period begins.

/// A loop that a text runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when it was noticed.
    pub seen: usize,
    /// How many tokens the block has that is repeated.
    pub period: usize,
}

pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    for seen in 1..=ids.len() {
        for period in 1..=longest.min(seen / copies) {
            if seen % period != 0 {
                continue;
            }
            let blocks: Vec<&[u32]> = ids[..seen].chunks(period).collect();
            let last = &blocks[blocks.len() - copies..];
            if last.iter().all(|block| *block == last[0]) {
                return Some(Loop { seen, period });
            }
        }
    }
    None
}
