//! The rectangle is as wide as the first prompt.

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    PaddedRight,
    PaddedLeft,
    EndToEnd,
}

pub fn last_rows(layout: Layout, lengths: &[usize]) -> Vec<usize> {
    let width = lengths.first().copied().unwrap_or(0);
    let mut end = 0; // of what lies before this prompt, end to end
    let mut rows = Vec::with_capacity(lengths.len());
    for (line, &length) in lengths.iter().enumerate() {
        end += length;
        rows.push(match layout {
            Layout::PaddedRight => line * width + length - 1,
            Layout::PaddedLeft => line * width + width.max(1) - 1,
            Layout::EndToEnd => end - 1,
        });
    }
    rows
}
