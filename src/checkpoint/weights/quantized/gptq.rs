//! GPTQ (Frantar and others, arXiv 2210.17323), as AutoGPTQ, GPTQModel and AutoRound write it.

use super::{Parts, QuantizedMatrix, Sharing, codes, integers, packed, turned};
use crate::error::Result;

/// `qweight: [n_in * bits / 32, n_out]`, `qzeros: [groups, n_out * bits / 32]`, `scales: [groups, n_out]`,
/// and `g_idx: [n_in]`, the group of each column. Zero points are `zero_offset` more than what is stored. Where 32 is no
/// multiple of the bits, a number may begin in one word and end in the next.
pub(super) fn read(
    parts: &Parts<'_, '_>,
    shape: [usize; 2],
    zero_offset: u8,
) -> Result<Option<QuantizedMatrix>> {
    if parts.kind() != "qweight" {
        return Ok(None);
    }
    let [n_out, n_in] = shape;
    let (weight, zeros, scales) =
        (parts.get("weight")?, parts.get("qzeros")?, parts.get("scales")?);
    let bits = (weight.len() / n_out.max(1) * 32).checked_div(n_in).unwrap_or(0);
    if !(2..=8).contains(&bits) {
        let problem = format!(
            "has the shape {:?}, which is no matrix of {n_out} by {n_in} in 2 to 8 bits",
            weight.shape()
        );
        return Err(weight.wrong(problem));
    }
    weight.expect(&[(n_in * bits).div_ceil(32), n_out])?;
    let groups = scales.len() / n_out.max(1);
    scales.expect(&[groups, n_out])?;
    let of_group = (n_out * bits).div_ceil(32);
    zeros.expect(&[groups, of_group])?;
    let sharing = match parts.find("g_idx")? {
        Some(order) => {
            order.expect(&[n_in])?;
            let group_of: Vec<usize> = order.words()?.iter().map(|group| *group as usize).collect();
            if group_of.iter().any(|group| *group >= groups) {
                return Err(
                    order.wrong(format!("names a group beyond the {groups} that there are"))
                );
            }
            in_order(group_of, groups)
        }
        None => Sharing::Blocks { rows: 1, columns: n_in / scales.groups(shape, true)? },
    };
    let words = weight.words()?;
    let all = codes(shape, |row, column| packed(|word| words[word * n_out + row], column, bits));
    let zero_words = zeros.words()?;
    let zeros: Vec<f32> = (0..groups * n_out)
        .map(|i| {
            let words = &zero_words[i / n_out * of_group..];
            f32::from(packed(|word| words[word], i % n_out, bits)) + f32::from(zero_offset)
        })
        .collect();
    let scales = turned(&scales.numbers()?, n_out);
    let zeros = turned(&zeros, n_out);
    Ok(Some(QuantizedMatrix::new(shape, all, integers(0), sharing, scales, zeros)))
}

/// Columns in groups: blocks, if each has the next columns of the same number.
pub(super) fn in_order(group_of: Vec<usize>, groups: usize) -> Sharing {
    let columns = group_of.iter().take_while(|group| **group == 0).count();
    let is_sorted = |(column, group): (usize, &usize)| column.checked_div(columns) == Some(*group);
    let has_all = columns > 0 && group_of.len().div_ceil(columns) == groups;
    if has_all && group_of.iter().enumerate().all(is_sorted) {
        Sharing::Blocks { rows: 1, columns }
    } else {
        Sharing::Order { group_of, groups }
    }
}
