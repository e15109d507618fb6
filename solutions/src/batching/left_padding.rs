//! Prompts of different lengths in one rectangle: padding on the left.
//!
//! Why: all prompts end in the last column, so their logits come from one column, and their next
//! tokens go into one too. A single number describes a row: `first`, the column of its first token.
//! Positions count from there. Hidden is everything that comes later, as always, and everything
//! before `first`.
//!
//! What it costs: `batch * width` rows, of which the padding is wasted work, and a mask for each
//! text instead of one for all. If one prompt is much longer than the others, nearly the whole
//! rectangle is padding.
//!
//! A common wrong turn: looking for padding by its id. The pad is often an ordinary token, such as
//! the end-of-sequence token, and then real tokens are hidden.

/// What a model needs to read several prompts in one pass. Each list has one entry for each prompt,
/// in their order, and `width` is the length of the longest prompt.
#[derive(Debug, PartialEq)]
pub struct Padded {
    /// `[batch, width]`
    pub ids: Vec<Vec<u32>>,
    /// `[batch, width]`: the position of each token in its text, and 0 for padding.
    pub positions: Vec<Vec<usize>>,
    /// `[batch, width, width]`: whether column `j` is hidden from column `i`, as `[i][j]`. True
    /// means hidden.
    pub hidden: Vec<Vec<Vec<bool>>>,
}

/// Fills up the prompts on the left with `pad`, so that all end in the last column.
pub fn left_pad(prompts: &[Vec<u32>], pad: u32) -> Padded {
    let width = prompts.iter().map(Vec::len).max().unwrap_or(0);
    let mut padded = Padded { ids: Vec::new(), positions: Vec::new(), hidden: Vec::new() };
    for prompt in prompts {
        let first = width - prompt.len();
        let is_hidden = |i: usize, j: usize| j > i || (j < first && j != i);
        let row = |i: usize| (0..width).map(|j| is_hidden(i, j)).collect();
        padded.ids.push([&vec![pad; first], prompt.as_slice()].concat());
        padded.positions.push((0..width).map(|column| column.saturating_sub(first)).collect());
        padded.hidden.push((0..width).map(row).collect());
    }
    padded
}
