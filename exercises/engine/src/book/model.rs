//! The functions of the model.

use crate::parts::{Forward, Heads, Rows};

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut Forward<'_>,
) -> Vec<f32> {
    let starts = (cached..).step_by(chunk);
    let passes = prompt.chunks(chunk).zip(starts);
    passes.map(|(tokens, start)| forward(tokens, start)).last().unwrap_or_default()
}

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let squares: f32 = x.iter().map(|x| x.powi(2)).sum();
    let scale = 1.0 / (squares / x.len() as f32 + eps).sqrt();
    x.iter().zip(weight).map(|(x, weight)| x * scale * weight).collect()
}

pub fn split_heads(rows: &[Vec<f32>], head_dim: usize) -> Heads {
    let heads = rows.first().map_or(0, |row| row.len() / head_dim);
    let part = |row: &Vec<f32>, head: usize| row[head * head_dim..][..head_dim].to_vec();
    (0..heads).map(|head| rows.iter().map(|row| part(row, head)).collect()).collect()
}

pub fn merge_heads(heads: &[Rows]) -> Rows {
    let seq = heads.first().map_or(0, Vec::len);
    (0..seq).map(|i| heads.iter().flat_map(|head| &head[i]).copied().collect()).collect()
}

pub fn rope(x: &[f32], position: usize, theta: f64) -> Vec<f32> {
    let (first, second) = x.split_at(x.len() / 2);
    let turn = |i: usize| {
        let frequency = theta.powf(-2.0 * i as f64 / x.len() as f64);
        (position as f64 * frequency).sin_cos()
    };
    let mut turned = x.to_vec();
    let (to_first, to_second) = turned.split_at_mut(first.len());
    for (i, (a, b)) in to_first.iter_mut().zip(to_second).enumerate() {
        let (sin, cos) = turn(i);
        *a = first[i] * cos as f32 - second[i] * sin as f32;
        *b = second[i] * cos as f32 + first[i] * sin as f32;
    }
    turned
}

pub fn causal_mask(seq: usize, start: usize, window: usize) -> Vec<Vec<bool>> {
    let row = |position: usize| {
        let hidden = |other: usize| other > position || position - other >= window;
        (0..start + seq).map(hidden).collect()
    };
    (start..start + seq).map(row).collect()
}

pub fn grouped_query_attention(queries: &[Vec<f32>], keys: &[Rows], values: &[Rows]) -> Rows {
    let group = queries.len() / keys.len();
    let attend = |(h, query): (usize, &Vec<f32>)| {
        let (keys, values) = (&keys[h / group], &values[h / group]);
        let scores: Vec<f32> =
            keys.iter().map(|key| product(key, query) / (query.len() as f32).sqrt()).collect();
        let weights = slowburn::sampling::softmax(&scores);
        let mut mean = vec![0.0; query.len()];
        for (weight, value) in weights.iter().zip(values) {
            mean.iter_mut().zip(value).for_each(|(mean, value)| *mean += weight * value);
        }
        mean
    };
    queries.iter().enumerate().map(attend).collect()
}

pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    let wide = gate.iter().zip(up).map(|(gate, up)| silu(product(gate, x)) * product(up, x));
    let wide: Vec<f32> = wide.collect();
    down.iter().map(|row| product(row, &wide)).collect()
}

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    logits.rchunks_exact(vocab).next()
}

fn silu(z: f32) -> f32 {
    z / (1.0 + (-z).exp())
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
