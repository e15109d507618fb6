//! Where the rows are that go through the head, in three layouts of a batch.
//!
//! Why: in a rectangle line `b` begins at row `b * width`. With padding on the left every text ends
//! in the last column; with padding on the right the length says where. End to end there are no
//! lines: a text begins where the one before it ended, so the lengths are summed up.
//!
//! What it costs: nothing to speak of, and it saves the head for all rows but these. In ember the
//! head is the largest matrix; for the ten tokens of the chapter's three prompts it runs over
//! three rows instead of ten.
//!
//! A common wrong turn: to take the last column for every text. With padding on the right that is
//! right for the longest text only, and the others get the logits of padding.

/// How the tokens of several prompts lie in one pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// A rectangle as wide as the longest prompt, filled up behind the shorter ones.
    PaddedRight,
    /// A rectangle as wide as the longest prompt, filled up before the shorter ones.
    PaddedLeft,
    /// One prompt behind the other, without padding.
    EndToEnd,
}

/// For each prompt the row of its last token. `lengths` has the number of tokens of each prompt,
/// at least 1 each.
pub fn last_rows(layout: Layout, lengths: &[usize]) -> Vec<usize> {
    let width = lengths.iter().copied().max().unwrap_or(0);
    let mut end = 0; // of this prompt, end to end
    let mut rows = Vec::with_capacity(lengths.len());
    for (line, &length) in lengths.iter().enumerate() {
        end += length;
        rows.push(match layout {
            Layout::PaddedRight => line * width + length - 1,
            Layout::PaddedLeft => line * width + width - 1,
            Layout::EndToEnd => end - 1,
        });
    }
    rows
}
