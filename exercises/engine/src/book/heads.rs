//! What the exercises about heads do with tensors.

use crate::parts::{Heads, Rows};

pub fn split_heads(rows: &[Vec<f32>], head_dim: usize) -> Heads {
    let heads = rows.first().map_or(0, |row| row.len() / head_dim);
    let part = |row: &Vec<f32>, head: usize| row[head * head_dim..][..head_dim].to_vec();
    (0..heads).map(|head| rows.iter().map(|row| part(row, head)).collect()).collect()
}

pub fn merge_heads(heads: &[Rows]) -> Rows {
    let seq = heads.first().map_or(0, Vec::len);
    (0..seq).map(|i| heads.iter().flat_map(|head| &head[i]).copied().collect()).collect()
}

pub fn causal_mask(seq: usize, start: usize, window: usize) -> Vec<Vec<bool>> {
    let row = |position: usize| {
        let hidden = |other: usize| other > position || position - other >= window;
        (0..start + seq).map(hidden).collect()
    };
    (start..start + seq).map(row).collect()
}
