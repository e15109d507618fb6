//! Prompts of different lengths in one rectangle: padding on the left.

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

/// A pass wants a rectangle, and prompts have different lengths. So fill them up on the left with
/// `pad`, so that all end in the last column.
///
/// - Each text must come out as if it were alone: its first token has the position 0, wherever it
///   stands.
/// - A token sees itself and the tokens of its text before it. It sees no padding.
/// - A column of padding sees itself and nothing else. Its result is never used, but a row in which
///   everything is hidden has no softmax: it would be 0 divided by 0.
/// - The catch: `pad` may be an id that occurs in a prompt too. That token is not padding.
/// - Every prompt has at least one token. Without prompts, all lists are empty.
///
/// ```text
/// left_pad(&[vec![5, 6, 7], vec![8]], 0)
///
/// ids        5 6 7    0 0 8
/// positions  0 1 2    0 0 0
/// hidden     0 1 1    0 1 1        (1 is true)
///            0 0 1    1 0 1
///            0 0 0    1 1 0
/// ```
pub fn left_pad(prompts: &[Vec<u32>], pad: u32) -> Padded {
    todo!()
}
