//! The rectangle is filled with padding first, and the tokens are written into it.

#[derive(Debug, PartialEq)]
pub struct Padded {
    pub ids: Vec<Vec<u32>>,
    pub positions: Vec<Vec<usize>>,
    pub hidden: Vec<Vec<Vec<bool>>>,
}

pub fn left_pad(prompts: &[Vec<u32>], pad: u32) -> Padded {
    let batch = prompts.len();
    let width = prompts.iter().map(|prompt| prompt.len()).fold(0, usize::max);
    let mut ids = vec![vec![pad; width]; batch];
    let mut positions = vec![vec![0; width]; batch];
    let mut hidden = vec![vec![vec![true; width]; width]; batch];
    for b in 0..batch {
        let offset = width - prompts[b].len();
        for column in 0..width {
            hidden[b][column][column] = false;
        }
        for (position, &id) in prompts[b].iter().enumerate() {
            ids[b][offset + position] = id;
            positions[b][offset + position] = position;
            for earlier in 0..position {
                hidden[b][offset + position][offset + earlier] = false;
            }
        }
    }
    Padded { ids, positions, hidden }
}
