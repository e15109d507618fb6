//! FP8 (E4M3), with a scale for the whole matrix, for each output, or for each block.

use std::array;

use super::{Parts, QuantizedMatrix, Sharing};
use crate::error::Result;

/// `weight` in F8_E4M3, and `weight_scale_inv` or `weight_scale`, which it is multiplied by. Scales for
/// activations are for those who round these too.
pub(super) fn read(
    parts: &Parts<'_, '_>,
    shape: [usize; 2],
    block: Option<[usize; 2]>,
) -> Result<Option<QuantizedMatrix>> {
    let names = ["weight_scale_inv", "weight_scale"];
    let Some(scale) = names.into_iter().find(|name| parts.has(name)) else {
        return Ok(None);
    };
    let [n_out, n_in] = shape;
    let (weight, scales) = (parts.get("weight")?, parts.get(scale)?);
    weight.expect(&shape)?;
    let sharing = if scales.len() == 1 {
        Sharing::Blocks { rows: n_out, columns: n_in }
    } else if let Some([rows, columns]) = block {
        scales.expect(&[n_out.div_ceil(rows), n_in.div_ceil(columns)])?;
        Sharing::Blocks { rows, columns }
    } else {
        scales.expect(&[n_out])?;
        Sharing::Blocks { rows: 1, columns: n_in }
    };
    parts.skip(&["activation_scale", "input_scale", "input_scale_ub"]);
    let codes = weight.bytes(&["F8_E4M3"])?;
    Ok(Some(QuantizedMatrix::new(
        shape,
        codes,
        values(),
        sharing,
        scales.numbers()?,
        Vec::new(),
    )))
}

/// The values of E4M3: a sign, 4 bits of an exponent, and 3 of a fraction. There is no infinity, and
/// only the last code of each sign is no number (Micikevicius and others, arXiv 2209.05433).
pub(super) fn values() -> [f32; 256] {
    array::from_fn(|code| {
        let (exponent, fraction) = (code as i32 >> 3 & 15, (code & 7) as f32);
        let magnitude = match (exponent, code & 7) {
            (15, 7) => f32::NAN,
            (0, _) => fraction / 8.0 * 2f32.powi(-6),
            _ => (1.0 + fraction / 8.0) * 2f32.powi(exponent - 7),
        };
        if code < 128 { magnitude } else { -magnitude }
    })
}
