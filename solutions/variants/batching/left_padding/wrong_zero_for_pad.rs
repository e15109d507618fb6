//! The padding is 0, whatever the pad is.

#[derive(Debug, PartialEq)]
pub struct Padded {
    pub ids: Vec<Vec<u32>>,
    pub positions: Vec<Vec<usize>>,
    pub hidden: Vec<Vec<Vec<bool>>>,
}

pub fn left_pad(prompts: &[Vec<u32>], pad: u32) -> Padded {
    let width = prompts.iter().map(Vec::len).max().unwrap_or(0);
    let mut padded = Padded { ids: Vec::new(), positions: Vec::new(), hidden: Vec::new() };
    for prompt in prompts {
        let first = width - prompt.len();
        let is_hidden = |i: usize, j: usize| j > i || (j < first && j != i);
        let row = |i: usize| (0..width).map(|j| is_hidden(i, j)).collect();
        padded.ids.push([&vec![0; first], prompt.as_slice()].concat());
        padded.positions.push((0..width).map(|column| column.saturating_sub(first)).collect());
        padded.hidden.push((0..width).map(row).collect());
    }
    padded
}
