//! Detecting a repetition loop as early as possible.
//!
//! Why: a text ends with `copies` copies of a block exactly if its last `(copies - 1) * period`
//! tokens each equal the token that came a period before. That is one comparison for each token and
//! period, and a counter for each period: an equal token adds one, any other resets it to 0. The
//! counter is right at every token, so you never look at anything twice. Divide it by the period,
//! instead of multiplying the period by `copies`: that product may not fit into a `usize`.
//!
//! What it costs: `longest` comparisons for each token, and `longest` counters. Comparing whole
//! blocks anew after each token costs the length of the blocks on top.
//!
//! A common wrong turn: counting `copies * period` equal tokens. The first copy has nothing before
//! it to equal, so that is one copy too many.

/// A loop that a text is stuck in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when you noticed it.
    pub seen: usize,
    /// How many tokens the repeated block has.
    pub period: usize,
}

/// When one who reads `ids` token by token first sees that they end with `copies` whole copies, at
/// least 2, of a block of 1 to `longest` tokens.
pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    // For each period: how many tokens in a row, up to the newest, are the ones a period before.
    let mut same = vec![0; longest.min(ids.len())];
    for (at, &id) in ids.iter().enumerate() {
        for period in 1..=same.len().min(at) {
            let same = &mut same[period - 1];
            *same = if ids[at - period] == id { *same + 1 } else { 0 };
            if *same / period >= copies - 1 {
                return Some(Loop { seen: at + 1, period });
            }
        }
    }
    None
}
