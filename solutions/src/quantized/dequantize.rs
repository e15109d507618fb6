//! From integers and scales back to weights.
//!
//! Why: `chunks` cuts the integers where the groups begin, and gives the shorter last one by
//! itself. So no index is computed, and none can be wrong.
//!
//! What it costs: all the memory that was saved. That is why a kernel does not do this: it converts
//! integers in registers, a group at a time. An embedding does it for one row.
//!
//! A common wrong turn: `chunks_exact`, which leaves the last group out where it is shorter.

/// The weights of a row: each is its integer times the scale of its group.
pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    let mut weights = Vec::with_capacity(integers.len());
    for (scale, integers) in scales.iter().zip(integers.chunks(group)) {
        weights.extend(integers.iter().map(|integer| scale * f32::from(*integer)));
    }
    weights
}
