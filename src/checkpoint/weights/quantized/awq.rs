//! AWQ (Lin and others, arXiv 2306.00978), in the layout that its kernels for matrix products take.

use super::{Parts, QuantizedMatrix, Sharing, codes, integers, turned};
use crate::error::Result;

/// Numbers of 4 bits in a word.
const IN_WORD: usize = 8;

/// Where in a word, counted in 4 bits from the lowest, is the number of each of 8 outputs: the first in the lowest
/// bits, the second in the middle.
const PLACES: [usize; IN_WORD] = [0, 4, 1, 5, 2, 6, 3, 7];

/// `qweight: [n_in, n_out / 8]`, `qzeros: [groups, n_out / 8]` and `scales: [groups, n_out]`.
pub(super) fn read(parts: &Parts<'_, '_>, shape: [usize; 2]) -> Result<Option<QuantizedMatrix>> {
    if parts.kind() != "qweight" {
        return Ok(None);
    }
    let [n_out, n_in] = shape;
    let (weight, zeros, scales) =
        (parts.get("weight")?, parts.get("qzeros")?, parts.get("scales")?);
    let of_row = n_out.div_ceil(IN_WORD);
    let groups = scales.groups(shape, true)?;
    weight.expect(&[n_in, of_row])?;
    zeros.expect(&[groups, of_row])?;
    let number = |words: &[u32], row: usize, output: usize| {
        let place = PLACES[output % IN_WORD];
        (words[row * of_row + output / IN_WORD] >> (4 * place)) as u8 & 15
    };
    let words = weight.words()?;
    let all = codes(shape, |row, column| number(&words, column, row));
    let words = zeros.words()?;
    let zeros: Vec<f32> =
        (0..groups * n_out).map(|i| f32::from(number(&words, i / n_out, i % n_out))).collect();
    let sharing = Sharing::Blocks { rows: 1, columns: n_in / groups };
    let (scales, zeros) = (turned(&scales.numbers()?, n_out), turned(&zeros, n_out));
    Ok(Some(QuantizedMatrix::new(shape, all, integers(0), sharing, scales, zeros)))
}
