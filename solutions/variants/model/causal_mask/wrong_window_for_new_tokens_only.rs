//! The window hides new tokens only, and no cached ones.

use burn::tensor::{Bool, Device, Int, Tensor};

fn build(
    seq: usize,
    start: usize,
    device: &Device,
    hidden: impl Fn(i64, i64) -> bool,
) -> Tensor<2, Bool> {
    let mut cells = Vec::new();
    for i in 0..seq {
        for j in 0..start + seq {
            cells.push(i64::from(hidden(i as i64, j as i64)));
        }
    }
    Tensor::<1, Int>::from_ints(&cells[..], device).reshape([seq, start + seq]).equal_elem(1)
}

pub fn causal_mask(seq: usize, start: usize, window: usize, device: &Device) -> Tensor<2, Bool> {
    build(seq, start, device, |i, j| {
        let p = i as usize + start;
        let j = j as usize;
        j > p || (j >= start && p - j >= window)
    })
}
