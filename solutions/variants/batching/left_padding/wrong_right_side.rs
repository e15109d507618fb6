//! Padding on the right: the prompts end in different columns.

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
        let length = prompt.len();
        let is_hidden = |i: usize, j: usize| j > i || (j >= length && j != i);
        let row = |i: usize| (0..width).map(|j| is_hidden(i, j)).collect();
        padded.ids.push([prompt.as_slice(), &vec![pad; first]].concat());
        padded
            .positions
            .push((0..width).map(|column| if column < length { column } else { 0 }).collect());
        padded.hidden.push((0..width).map(row).collect());
    }
    padded
}
