//! Where the rows are that go through the head, in three layouts of a batch.

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

/// For each prompt the row of its last token: the one whose logits say what comes next.
///
/// The last block gives one row for each token of the pass, padding included. Rows are numbered
/// from 0, the first line of a rectangle first, then the second, and so on. `lengths` has the
/// number of tokens of each prompt, at least 1 each. Without prompts there are no rows.
///
/// ```text
/// lengths 2 and 3, a and b for their tokens, . for padding
///
/// PaddedRight  a a .      rows 1 and 5
///              b b b
/// PaddedLeft   . a a      rows 2 and 5
///              b b b
/// EndToEnd     a a b b b  rows 1 and 4
/// ```
pub fn last_rows(layout: Layout, lengths: &[usize]) -> Vec<usize> {
    todo!()
}
