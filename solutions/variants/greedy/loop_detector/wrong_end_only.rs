//! Only the finished text is looked at.

/// A loop that a text runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when it was noticed.
    pub seen: usize,
    /// How many tokens the block has that is repeated.
    pub period: usize,
}

pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    for period in 1..=longest.min(ids.len() / copies) {
        let same = (period..ids.len()).rev().take_while(|&at| ids[at] == ids[at - period]).count();
        if same >= (copies - 1) * period {
            return Some(Loop { seen: ids.len(), period });
        }
    }
    None
}
