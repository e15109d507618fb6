//! All texts are tried for one period before the next: the shortest block, not the first.

/// A loop that a text runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when it was noticed.
    pub seen: usize,
    /// How many tokens the block has that is repeated.
    pub period: usize,
}

pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    for period in 1..=longest {
        let mut same = 0;
        for at in period..ids.len() {
            same = if ids[at] == ids[at - period] {
                same + 1
            } else {
                0
            };
            if same >= (copies - 1) * period {
                return Some(Loop { seen: at + 1, period });
            }
        }
    }
    None
}
