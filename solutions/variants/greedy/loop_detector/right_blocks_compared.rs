//! After each token, the last blocks are compared whole.

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
            let end = &ids[seen - copies * period..seen];
            if end.chunks(period).all(|block| block == &end[..period]) {
                return Some(Loop { seen, period });
            }
        }
    }
    None
}
