//! Attention over blocks beside plain loops over all positions, and beside itself.

use std::ops::Range;

use burn::tensor::{Device, TensorData};

use super::*;
use crate::cube::blocks::append;
use crate::cube::devices;

/// The heads of a test, and the sequences of one layer with all their queries, keys and values.
struct Case {
    device: Device,
    dtype: DType,
    n_heads: usize,
    shape: SlotShape,
    scoring: Scoring<'static>,
    sequences: Vec<Sequence>,
    slots: Tensor<1>,
}

struct Sequence {
    /// `[length, n_heads * head_dim]`
    q: Vec<f32>,
    /// `[length, n_kv_heads * head_dim]`
    k: Vec<f32>,
    v: Vec<f32>,
    slots: Vec<u32>,
}

/// A sequence and which of its positions are computed.
type Chunk = (usize, Range<usize>);

/// Numbers from -1 to 1 that repeat after a long time.
fn numbers(seed: usize, count: usize) -> Vec<f32> {
    let number = |i: usize| ((i + 1) * 7919 + seed * 104_729) % 65_537;
    (0..count).map(|i| number(i * i + 31 * i) as f32 / 32_768.5 - 1.0).collect()
}

impl Case {
    /// Sequences of these lengths, whose blocks lie in the slab in turns, backwards. Slots that are not
    /// written hold infinities.
    fn new(
        device: &Device,
        [n_heads, n_kv_heads, head_dim]: [usize; 3],
        lengths: &[usize],
    ) -> Self {
        let shape = SlotShape { n_kv_heads, head_dim, int8: false };
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for (sequence, length) in lengths.iter().enumerate() {
            blocks.extend((0..length.div_ceil(BLOCK)).map(|block| (block, sequence)));
        }
        blocks.sort_unstable();
        let slot = |block, sequence| {
            let place = blocks.iter().position(|at| *at == (block, sequence)).unwrap();
            (blocks.len() - place) as u32 // slot 0 belongs to nobody
        };
        let sequence = |(i, &length): (usize, &usize)| Sequence {
            q: numbers(3 * i, length * n_heads * head_dim),
            k: numbers(3 * i + 1, length * n_kv_heads * head_dim),
            v: numbers(3 * i + 2, length * n_kv_heads * head_dim),
            slots: (0..length.div_ceil(BLOCK)).map(|block| slot(block, i)).collect(),
        };
        Self {
            device: device.clone(),
            dtype: DType::F32,
            n_heads,
            shape,
            scoring: Scoring::new(head_dim),
            sequences: lengths.iter().enumerate().map(sequence).collect(),
            slots: Tensor::full([(blocks.len() + 1) * shape.numbers()], f32::INFINITY, device),
        }
    }

    fn tensor(&self, numbers: Vec<f32>, width: usize) -> Tensor<2> {
        let shape = [numbers.len() / width, width];
        Tensor::from_data(TensorData::new(numbers, shape), (&self.device, self.dtype))
    }

    /// One pass over some chunks: what attention adds, `[rows, n_heads * head_dim]`.
    fn pass(&self, chunks: &[Chunk]) -> Vec<f32> {
        self.pass_with(chunks, usize::MAX)
    }

    /// As [`pass`](Self::pass), where a cube takes one span if there would be fewer than `few` cubes.
    fn pass_with(&self, chunks: &[Chunk], few: usize) -> Vec<f32> {
        let SlotShape { n_kv_heads, head_dim, .. } = self.shape;
        let [width, kv_width] = [self.n_heads * head_dim, n_kv_heads * head_dim];
        let (mut rows, mut plan) = (0, Vec::new());
        let [mut q, mut k, mut v] = [const { Vec::new() }; 3];
        for (sequence, positions) in chunks {
            let Sequence { q: queries, k: keys, v: values, slots } = &self.sequences[*sequence];
            q.extend_from_slice(&queries[positions.start * width..positions.end * width]);
            k.extend_from_slice(&keys[positions.start * kv_width..positions.end * kv_width]);
            v.extend_from_slice(&values[positions.start * kv_width..positions.end * kv_width]);
            // Blocks behind the window are given back, and those to come are not there yet.
            let window = self.scoring.window.unwrap_or(usize::MAX);
            let first_block = (positions.start + 1).saturating_sub(window) / BLOCK;
            plan.push(Rows {
                rows: rows..rows + positions.len(),
                start: positions.start,
                slots: slots[first_block..positions.end.div_ceil(BLOCK)].to_vec(),
                first_block,
            });
            rows += positions.len();
        }
        let group = self.n_heads / n_kv_heads;
        let plan = PlanData::with_cubes(&plan, group, self.shape, false, few);
        let plan = Plan::upload(plan, &self.device);
        let [k, v] = [k, v].map(|numbers| self.tensor(numbers, kv_width));
        append(&self.slots, k, v, plan.places(), self.shape);
        let sinks = self.scoring.sinks.map(|sinks| Tensor::from_floats(sinks, &self.device));
        let q = self.tensor(q, width);
        let mixed = attend(q, &self.slots, &plan, self.shape, self.scoring, sinks);
        assert_eq!(mixed.dims(), [rows, width]);
        mixed.cast(DType::F32).try_into_vec_as::<f32>().unwrap()
    }

    /// What a position of a sequence should get, `[n_heads * head_dim]`, in plain loops.
    fn expected(&self, sequence: usize, position: usize) -> Vec<f32> {
        let SlotShape { n_kv_heads, head_dim, .. } = self.shape;
        let Sequence { q, k, v, .. } = &self.sequences[sequence];
        let first = (position + 1).saturating_sub(self.scoring.window.unwrap_or(usize::MAX));
        let mut out = Vec::new();
        for head in 0..self.n_heads {
            let kv_head = head / (self.n_heads / n_kv_heads);
            let of = |numbers: &[f32], at: usize, d: usize| {
                f64::from(numbers[(at * n_kv_heads + kv_head) * head_dim + d])
            };
            let query = &q[(position * self.n_heads + head) * head_dim..][..head_dim];
            let score = |at: usize| {
                let products = query.iter().enumerate().map(|(d, q)| f64::from(*q) * of(k, at, d));
                let score = products.sum::<f64>() * f64::from(self.scoring.scale);
                let capped = |cap: f32| f64::from(cap) * (score / f64::from(cap)).tanh();
                self.scoring.softcap.map_or(score, capped)
            };
            let weights: Vec<f64> = (first..=position).map(|at| score(at).exp()).collect();
            let sink = self.scoring.sinks.map_or(0.0, |sinks| f64::from(sinks[head]).exp());
            let total = weights.iter().sum::<f64>() + sink;
            out.extend((0..head_dim).map(|d| {
                let sum = weights.iter().zip(first..).map(|(weight, at)| weight * of(v, at, d));
                (sum.sum::<f64>() / total) as f32
            }));
        }
        out
    }

    #[track_caller]
    fn assert_pass(&self, chunks: &[Chunk], tolerance: f32) {
        let found = self.pass(chunks);
        let rows = chunks.iter().flat_map(|(sequence, positions)| {
            positions.clone().map(move |position| (*sequence, position))
        });
        let width = self.n_heads * self.shape.head_dim;
        for ((sequence, position), found) in rows.zip(found.chunks(width)) {
            for (found, expected) in found.iter().zip(self.expected(sequence, position)) {
                assert!(
                    (found - expected).abs() <= tolerance,
                    "{:?}, sequence {sequence}, position {position}: {found}, {expected}",
                    self.device
                );
            }
        }
    }
}

/// Lengths around the borders of blocks and spans, in one pass, of heads of several sizes and groups.
#[test]
fn attention_is_that_of_plain_loops() {
    let lengths = [1, 31, 32, 33, 127, 128, 129];
    for device in devices() {
        for heads in [[1, 1, 16], [4, 2, 8], [3, 1, 64], [2, 2, 80], [7, 1, 4]] {
            let case = Case::new(&device, heads, &lengths);
            let whole = |(i, &length): (usize, &usize)| (i, length.saturating_sub(3)..length);
            // What is before the last three positions is written by a pass of its own.
            let before = |(i, &length): (usize, &usize)| (i, 0..length.saturating_sub(3));
            let all = lengths.iter().enumerate();
            case.pass(
                &all.clone().map(before).filter(|(_, rows)| !rows.is_empty()).collect::<Vec<_>>(),
            );
            case.assert_pass(&all.map(whole).collect::<Vec<_>>(), 2e-6);
        }
    }
}

#[test]
fn windows_and_caps_are_kept_to() {
    for device in devices() {
        for (window, softcap) in [(Some(1), None), (Some(40), Some(0.5)), (None, Some(2.0))] {
            let mut case = Case::new(&device, [4, 2, 16], &[200, 37]);
            case.scoring.window = window;
            case.scoring.softcap = softcap;
            case.assert_pass(&[(0, 0..150), (1, 0..36)], 2e-6);
            case.assert_pass(&[(1, 36..37), (0, 150..200)], 2e-6);
        }
    }
}

/// Sinks below all scores, among them, and far above them.
#[test]
fn sinks_take_their_part() {
    for device in devices() {
        let mut case = Case::new(&device, [4, 2, 16], &[200, 37]);
        case.scoring.sinks = Some(&[-90.0, 0.5, 4.0, 90.0]);
        case.assert_pass(&[(0, 0..150), (1, 0..36)], 2e-6);
        case.assert_pass(&[(1, 36..37), (0, 150..200)], 2e-6);
    }
}

/// The bits of a row depend neither on the batch, nor on how its sequence was split into passes.
#[test]
fn a_row_has_the_same_bits_in_every_batch_and_chunk() {
    for device in devices() {
        for window in [None, Some(45)] {
            let mut case = Case::new(&device, [6, 2, 20], &[300, 33, 64]);
            case.scoring.window = window;
            let width = 6 * 20;
            let whole = case.pass_with(&[(0, 0..300)], 0);
            let chunks: [(&[Chunk], usize); 5] = [
                (&[(1, 0..32), (0, 0..31), (2, 0..1)], 0),
                (&[(0, 31..33), (1, 32..33)], usize::MAX),
                (&[(2, 1..64), (0, 33..139)], usize::MAX),
                (&[(0, 139..140)], usize::MAX),
                (&[(0, 140..300)], usize::MAX),
            ];
            let mut found = Vec::new();
            for (chunk, few) in chunks {
                let pass = case.pass_with(chunk, few);
                let before = chunk.iter().take_while(|(sequence, _)| *sequence != 0);
                let first: usize = before.map(|(_, rows)| rows.len()).sum();
                let (_, rows) = chunk.iter().find(|(sequence, _)| *sequence == 0).unwrap();
                found.extend_from_slice(&pass[first * width..(first + rows.len()) * width]);
            }
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&whole), "{device:?}, {window:?}");
        }
    }
}

#[test]
fn half_precision_is_close() {
    for device in devices() {
        if !device.supports_dtype(DType::F16) {
            continue;
        }
        let mut case = Case::new(&device, [4, 2, 32], &[70]);
        // Queries in f32, keys and values in f16; then all of them.
        case.slots = case.slots.cast(DType::F16);
        case.assert_pass(&[(0, 0..70)], 2e-3);
        case.dtype = DType::F16;
        case.assert_pass(&[(0, 0..70)], 4e-3);
    }
}

/// A whole text, and the bits of its chunks beside another. Heads that fill their last group, and that do not.
#[test]
fn integers_are_close_and_have_the_same_bits_in_every_chunk() {
    for device in devices() {
        for head_dim in [16, 24, 6] {
            let mut case = Case::new(&device, [4, 2, head_dim], &[150, 40]);
            case.shape.int8 = true;
            let numbers = case.slots.dims()[0] / SlotShape { int8: false, ..case.shape }.numbers();
            case.slots = Tensor::zeros([numbers * case.shape.numbers()], &device);
            case.assert_pass(&[(0, 0..150), (1, 0..40)], 2e-2);
            let width = 4 * head_dim;
            let whole = case.pass_with(&[(0, 0..150)], 0);
            let mut found = case.pass(&[(0, 0..33), (1, 0..40)])[..33 * width].to_vec();
            found.extend(case.pass(&[(0, 33..150)]));
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&whole), "{device:?}, {head_dim}");
        }
    }
}

#[test]
fn heads_of_any_usual_size_have_room() {
    for head_dim in [4, 8, 64, 80, 96, 128, 256, 512, 1024] {
        let queries = most_queries(head_dim);
        assert!(queries > 0 && fits(head_dim));
        let numbers = queries * (head_dim + SPAN + SPAN / 2 + parts(head_dim) * head_dim + 4);
        assert!(numbers * 4 <= 16 * 1024, "{head_dim}: {numbers}");
    }
    assert!(!fits(1 << 20));
}
