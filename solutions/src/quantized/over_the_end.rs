//! A row that depended on the rows before it is stored by itself.
//!
//! Why: `concat` made one list of the matrix, and `chunks` cut it without regard to where a row
//! ends. With 48 weights in a row and groups of 32, the second group held the end of one row and
//! the beginning of the next. The large weights of one row then set the scale for small ones of
//! another.
//!
//! What it costs: the last group of a row may be shorter, and has a whole scale. A kernel pads it
//! with zeros.
//!
//! A common wrong turn: refusing such matrices. A size of 48 is nothing unusual, and the kernel
//! wants groups that end with a row for another reason too: each output needs separate scales.

/// What is stored of a matrix, `[rows][n_in]`, in 8-bit integers and groups of `group` weights.
pub fn stored(matrix: &[Vec<f32>], group: usize) -> Vec<Vec<f32>> {
    matrix.iter().map(|row| row.chunks(group).flat_map(read_back).collect()).collect()
}

/// A group, as it is read back.
fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return vec![0.0; weights.len()];
    }
    let scale = greatest / 127.0;
    weights.iter().map(|weight| scale * (weight / scale).round()).collect()
}
