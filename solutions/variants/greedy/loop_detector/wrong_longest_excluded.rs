//! Blocks of `longest` tokens are left out.

/// A loop that a text runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when it was noticed.
    pub seen: usize,
    /// How many tokens the block has that is repeated.
    pub period: usize,
}

pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    // For each period: how many tokens in a row, up to the newest, are the ones a period before.
    let mut same = vec![0; (longest - 1).min(ids.len())];
    for (at, &id) in ids.iter().enumerate() {
        for period in 1..=same.len().min(at) {
            let same = &mut same[period - 1];
            *same = if ids[at - period] == id { *same + 1 } else { 0 };
            if *same >= (copies - 1) * period {
                return Some(Loop { seen: at + 1, period });
            }
        }
    }
    None
}
