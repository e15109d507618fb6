//! Compressed-tensors, the layouts of LLM Compressor, and those of NVIDIA's ModelOpt: integers or FP8, packed or not, and 4 bits of
//! floating point.

use super::parts::Part;
use super::{Parts, QuantizedMatrix, Sharing, codes, fp8, gptq, integers, packed, signed, turned};
use crate::error::Result;

/// `weight` or `weight_packed`, and `weight_scale`: one, one for each output, or some for groups of columns
/// or blocks.
pub(super) fn read(parts: &Parts<'_, '_>, shape: [usize; 2]) -> Result<Option<QuantizedMatrix>> {
    if !parts.has("weight_scale") {
        return Ok(None);
    }
    parts.skip(&[
        "weight_shape",
        "input_scale",
        "input_zero_point",
        "input_global_scale",
    ]);
    let (weight, scales) = (parts.get("weight")?, parts.get("weight_scale")?);
    let matrix = match weight.dtype() {
        "I32" => packed_integers(parts, shape, &weight, &scales)?,
        "U8" => four_bits(parts, shape, weight, &scales)?,
        _ => bytes(parts, shape, weight, &scales)?,
    };
    Ok(Some(matrix))
}

/// `int-quantized`, `float-quantized` and `naive-quantized`: a byte for each weight.
fn bytes(
    parts: &Parts<'_, '_>,
    shape: [usize; 2],
    weight: Part,
    scales: &Part,
) -> Result<QuantizedMatrix> {
    weight.expect(&shape)?;
    let sharing = sharing(parts, shape, scales)?;
    let values = if weight.dtype() == "I8" {
        signed()
    } else {
        fp8::values()
    };
    let zeros = match parts.find("weight_zero_point")? {
        Some(zeros) if zeros.dtype() == "I8" => {
            zeros.expect(scales.shape())?;
            zeros.small_integers()?
        }
        // Of FP8, all are 0.
        _ => Vec::new(),
    };
    let codes = weight.bytes(&["I8", "F8_E4M3"])?;
    Ok(QuantizedMatrix::new(shape, codes, values, sharing, scales.numbers()?, zeros))
}

/// `pack-quantized`: 4 or 8 bits in words along a row, and zero points in words along a column. Both have half of
/// their range added to them.
fn packed_integers(
    parts: &Parts<'_, '_>,
    shape: [usize; 2],
    weight: &Part,
    scales: &Part,
) -> Result<QuantizedMatrix> {
    let [n_out, n_in] = shape;
    let of_row = weight.len() / n_out.max(1);
    let Some(bits) = [2, 4, 8].into_iter().find(|bits| (n_in * bits).div_ceil(32) == of_row) else {
        return Err(weight.wrong(format!(
            "has the shape {:?}, which is no matrix of {n_out} by {n_in} in 2, 4 or 8 bits",
            weight.shape()
        )));
    };
    weight.expect(&[n_out, of_row])?;
    let sharing = sharing(parts, shape, scales)?;
    let words = weight.words()?;
    let all = codes(shape, |row, column| packed(|word| words[row * of_row + word], column, bits));
    let half = 1 << (bits - 1);
    let (first, zeros) = match parts.find("weight_zero_point")? {
        None => (-half, Vec::new()),
        Some(zeros) => {
            let groups = scales.groups(shape, false)?;
            let of_column = (n_out * bits).div_ceil(32);
            zeros.expect(&[of_column, groups])?;
            let words = turned(&zeros.words()?, groups);
            let zeros: Vec<f32> = (0..groups * n_out)
                .map(|i| {
                    let words = &words[i / n_out * of_column..];
                    packed(|word| words[word], i % n_out, bits).into()
                })
                .collect();
            (0, turned(&zeros, n_out))
        }
    };
    Ok(QuantizedMatrix::new(
        shape,
        all,
        integers(first),
        sharing,
        scales.numbers()?,
        zeros,
    ))
}

/// `nvfp4-pack-quantized`: two E2M1 in a byte, scales of 16 in E4M3, and a number that divides all scales; and
/// `mxfp4-pack-quantized`: scales of 32 that are powers of two.
fn four_bits(
    parts: &Parts<'_, '_>,
    shape: [usize; 2],
    weight: Part,
    scales: &Part,
) -> Result<QuantizedMatrix> {
    let [n_out, n_in] = shape;
    if parts.has("weight_zero_point") {
        return Err(weight.wrong("has zero points, which are not read of 4 bits in floating point"));
    }
    weight.expect(&[n_out, n_in.div_ceil(2)])?;
    let sharing = sharing(parts, shape, scales)?;
    // ModelOpt has the number that multiplies them instead.
    let global = |name| parts.find(name)?.map(|part| part.one()).transpose();
    let (divisor, factor) = (global("weight_global_scale")?, global("weight_scale_2")?);
    let whole = |scale: f32| scale / divisor.unwrap_or(1.0) * factor.unwrap_or(1.0);
    let pairs = weight.bytes(&["U8"])?;
    let of_row = n_in.div_ceil(2);
    let pair = |row, i| pairs[row * of_row + i];
    let scales = scales.numbers()?.into_iter().map(whole);
    Ok(QuantizedMatrix::in_e2m1(shape, pair, sharing, scales))
}

/// Which weights share a scale, by the shape of the scales.
fn sharing(parts: &Parts<'_, '_>, [n_out, n_in]: [usize; 2], scales: &Part) -> Result<Sharing> {
    /// The blocks of FP8.
    const BLOCK: usize = 128;
    if scales.len() == 1 {
        return Ok(Sharing::Blocks { rows: n_out, columns: n_in });
    }
    let blocks = [n_out, n_in].map(|size| size.div_ceil(BLOCK));
    if scales.shape() == blocks && scales.shape()[0] != n_out {
        return Ok(Sharing::Blocks { rows: BLOCK, columns: BLOCK });
    }
    let groups = scales.groups([n_out, n_in], false)?;
    let in_columns = Sharing::Blocks { rows: 1, columns: n_in / groups };
    let Some(order) = parts.find("weight_g_idx")? else {
        return Ok(in_columns);
    };
    order.expect(&[n_in])?;
    let group_of: Vec<usize> = order.words()?.iter().map(|group| *group as usize).collect();
    // -1 in all of them says that columns are in their order.
    if group_of.iter().all(|group| *group as u32 == u32::MAX) {
        return Ok(in_columns);
    }
    if group_of.iter().any(|group| *group >= groups) {
        return Err(order.wrong(format!("names a group beyond the {groups} that there are")));
    }
    Ok(gptq::in_order(group_of, groups))
}
