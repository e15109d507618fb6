//! Bitsandbytes: 4 bits that stand for the quantiles of a normal distribution (NF4; Dettmers and others, arXiv
//! 2305.14314) or for floating point (FP4), and 8-bit integers.

use std::array;

use serde::Deserialize;

use super::parts::Part;
use super::{Parts, QuantizedMatrix, Sharing, codes, signed};
use crate::error::Result;

/// Tensors that say how 4 bits are read.
const STATES: [&str; 2] = [
    "weight.quant_state.bitsandbytes__nf4",
    "weight.quant_state.bitsandbytes__fp4",
];

pub(super) fn read(parts: &Parts<'_, '_>, shape: [usize; 2]) -> Result<Option<QuantizedMatrix>> {
    if parts.has("SCB") {
        return eight_bits(parts, shape).map(Some);
    }
    match STATES.into_iter().find(|state| parts.has(state)) {
        Some(state) => four_bits(parts, shape, &parts.get(state)?).map(Some),
        None => Ok(None),
    }
}

/// `weight: [n_out, n_in]`, and the largest magnitude of each output, `SCB`, which is 127.
fn eight_bits(parts: &Parts<'_, '_>, shape: [usize; 2]) -> Result<QuantizedMatrix> {
    /// 1 / 127, as bitsandbytes rounds it.
    const UNIT: f32 = 7.874_016e-3;
    let (weight, largest) = (parts.get("weight")?, parts.get("SCB")?);
    weight.expect(&shape)?;
    largest.expect(&shape[..1])?;
    parts.skip(&["weight_format"]);
    let scales = largest.numbers()?.into_iter().map(|largest| largest * UNIT).collect();
    let sharing = Sharing::Blocks { rows: 1, columns: shape[1] };
    let codes = weight.bytes(&["I8"])?;
    Ok(QuantizedMatrix::new(shape, codes, signed(), sharing, scales, Vec::new()))
}

/// What is said of a matrix in 4 bits.
#[derive(Deserialize)]
struct State {
    blocksize: usize,
    shape: [usize; 2],
    #[serde(default)]
    nested_blocksize: usize,
    #[serde(default)]
    nested_offset: f32,
}

/// Two weights in a byte, the first in the upper half, in blocks that go on from row to row. The scales of blocks may
/// be quantized too: 8 bits each, in blocks with scales of their own.
fn four_bits(parts: &Parts<'_, '_>, shape: [usize; 2], state: &Part) -> Result<QuantizedMatrix> {
    let said: State = serde_json::from_slice(state.text())
        .map_err(|error| state.wrong(format!("is not what was expected ({error})")))?;
    if said.shape != shape || said.blocksize == 0 {
        let problem = format!(
            "says shape {:?} and blocks of {}, of a matrix of {shape:?}",
            said.shape, said.blocksize
        );
        return Err(state.wrong(problem));
    }
    let count = shape[0] * shape[1];
    let (weight, scales) = (parts.get("weight")?, parts.get("weight.absmax")?);
    let table = parts.get("weight.quant_map")?;
    weight.expect(&[count.div_ceil(2)])?;
    scales.expect(&[count.div_ceil(said.blocksize)])?;
    table.expect(&[16])?;
    let scales = if parts.has("weight.nested_absmax") {
        let of_scales = parts.get("weight.nested_absmax")?;
        let nested = parts.get("weight.nested_quant_map")?;
        nested.expect(&[256])?;
        if said.nested_blocksize == 0 {
            return Err(state.wrong("does not say how many scales share one"));
        }
        of_scales.expect(&[scales.len().div_ceil(said.nested_blocksize)])?;
        let (of_scales, nested) = (of_scales.numbers()?, nested.numbers()?);
        let codes = scales.bytes(&["U8"])?.into_iter().enumerate();
        let scale = |(i, code): (usize, u8)| {
            nested[usize::from(code)] * of_scales[i / said.nested_blocksize] + said.nested_offset
        };
        codes.map(scale).collect()
    } else {
        scales.numbers()?
    };
    let table = table.numbers()?;
    let pairs = weight.bytes(&["U8"])?;
    let all = codes(shape, |row, column| {
        let at = row * shape[1] + column;
        pairs[at / 2] >> (4 - at % 2 * 4) & 15
    });
    let values = array::from_fn(|code| table[code % 16]);
    let sharing = Sharing::Flat(said.blocksize);
    Ok(QuantizedMatrix::new(shape, all, values, sharing, scales, Vec::new()))
}
