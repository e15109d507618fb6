//! One expression for each layout, the sums with `scan`.

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    PaddedRight,
    PaddedLeft,
    EndToEnd,
}

pub fn last_rows(layout: Layout, lengths: &[usize]) -> Vec<usize> {
    let Some(&width) = lengths.iter().max() else {
        return Vec::new();
    };
    match layout {
        Layout::PaddedLeft => (1..=lengths.len()).map(|line| line * width - 1).collect(),
        Layout::PaddedRight => {
            lengths.iter().zip((0..).step_by(width)).map(|(n, start)| start + n - 1).collect()
        }
        Layout::EndToEnd => {
            let sums = lengths.iter().scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            });
            sums.map(|sum| sum - 1).collect()
        }
    }
}
