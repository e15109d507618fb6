//! Attention, with keys and values in blocks.

use slowburn::kernels::{BLOCK, Block, BlockLayout, KvFormat, Queries, Scoring};

use super::*;

const KV_FORMATS: [KvFormat; 4] = [KvFormat::F32, KvFormat::F16, KvFormat::Bf16, KvFormat::Int8];

/// One layer with one head of keys and values.
fn one_head() -> BlockLayout {
    BlockLayout::new([[1, 16]], KvFormat::F32)
}

/// What the keys or values of one head become when they are stored.
fn kept(format: KvFormat, numbers: &[f32]) -> Vec<f32> {
    let numbers_in = |format| numbers.iter().map(|number| stored(format, *number)).collect();
    match format {
        KvFormat::F32 => numbers_in(Precision::F32),
        KvFormat::F16 => numbers_in(Precision::F16),
        KvFormat::Bf16 => numbers_in(Precision::Bf16),
        KvFormat::Int8 => numbers.chunks(16).flat_map(kept_in_int8).collect(),
    }
}

/// A group of keys or values, with the greatest magnitude as 127.
fn kept_in_int8(group: &[f32]) -> Vec<f32> {
    let greatest = group.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs()));
    let scale = f16::from_f32(greatest / 127.0).to_f32();
    let kept = |number: &f32| scale * (number / scale).round().clamp(-127.0, 127.0);
    group.iter().map(kept).collect()
}

/// Attention as its formula says, in f64.
fn attend(q: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f64> {
    attend_beside(f64::NEG_INFINITY, q, keys, values)
}

/// As [`attend`], with a sink of this score.
fn attend_beside(sink: f64, q: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f64> {
    let dot = |a: &[f32], b: &[f32]| {
        let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
        products.sum::<f64>() / (a.len() as f64).sqrt()
    };
    let scores: Vec<f64> = keys.iter().map(|key| dot(q, key)).collect();
    let greatest = scores.iter().copied().fold(sink, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = weights.iter().sum::<f64>() + (sink - greatest).exp();
    let mean = |i: usize| {
        let terms = weights.iter().zip(values).map(|(w, value)| w / sum * f64::from(value[i]));
        terms.sum()
    };
    (0..q.len()).map(mean).collect()
}

#[test]
fn attention_is_near_its_formula_and_the_same_everywhere() {
    let cpus = cpus();
    for (n_heads, n_kv_heads, head_dim) in [(3, 1, 8), (4, 2, 48), (2, 2, 16), (9, 3, 64)] {
        for format in KV_FORMATS {
            let layout = BlockLayout::new([[2 * n_kv_heads, 8], [n_kv_heads, head_dim]], format);
            let (length, layer) = (300, layout.layer(1));
            let width = n_kv_heads * head_dim;
            let mut numbers = Numbers::new((n_heads * head_dim) as u64, false);
            let mut blocks: Vec<Block> =
                (0..length / BLOCK + 1).map(|_| Block::new(&layout)).collect();
            let (mut all_keys, mut all_values) = (Vec::new(), Vec::new());
            for position in 0..length {
                let (keys, values) = (numbers.take(width), numbers.take(width));
                blocks[position / BLOCK].write(layer, position % BLOCK, &keys, &values);
                let kept = |x: &[f32]| -> Vec<f32> {
                    x.chunks(head_dim).flat_map(|head| kept(format, head)).collect()
                };
                all_keys.push(kept(&keys).iter().map(|x| 4.0 * x).collect::<Vec<_>>());
                all_values.push(kept(&values));
            }
            for (start, rows) in [(0, 1), (0, 70), (31, 2), (250, 13), (299, 1)] {
                let q: Vec<f32> = numbers.take(rows * n_heads * head_dim);
                let q: Vec<f32> = q.iter().map(|q| 4.0 * q).collect();
                let scoring = Scoring::new(head_dim);
                let run = |cpu: &Cpu| {
                    let blocks = blocks.iter().collect();
                    let queries = Queries { blocks, first_block: 0, start, rows: 0..rows };
                    cpu.enter(|| kernels::attention(&q, n_heads, layer, scoring, &[queries]))
                };
                let reference = run(cpus.last().unwrap());
                for cpu in &cpus {
                    let what = format!("{cpu:?} {format:?}, {rows} rows from {start}");
                    assert_eq!(bits(&run(cpu)), bits(&reference), "{what}");
                }
                for (i, found) in reference.chunks(head_dim).enumerate() {
                    let (row, head) = (i / n_heads, i % n_heads * n_kv_heads / n_heads);
                    let part = |all: &[Vec<f32>], scale: f32| -> Vec<Vec<f32>> {
                        let visible = all[..=start + row].iter();
                        let of_head = |x: &Vec<f32>| {
                            let x = &x[head * head_dim..(head + 1) * head_dim];
                            x.iter().map(|x| x * scale).collect()
                        };
                        visible.map(of_head).collect()
                    };
                    let q = &q[i * head_dim..(i + 1) * head_dim];
                    let expected = attend(q, &part(&all_keys, 0.25), &part(&all_values, 1.0));
                    for (found, expected) in found.iter().zip(expected) {
                        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
                    }
                }
            }
        }
    }
}

/// Keys that are values too give the bits of keys and the same values, and take half of the memory.
#[test]
fn latents_are_keys_and_values() {
    const POSITIONS: usize = 300;
    for format in KV_FORMATS {
        for head_dim in [32, 40, 48] {
            let layout =
                |is_latent| BlockLayout::with_latents([([1, head_dim], is_latent)], format);
            let layouts = [false, true].map(layout);
            let [both, once] = layouts.each_ref().map(BlockLayout::bytes);
            assert!(2 * once <= both, "{format:?}");
            let mut numbers = Numbers::new(head_dim as u64, false);
            let keys = numbers.take(POSITIONS * head_dim);
            let q = numbers.take(70 * 5 * head_dim);
            let [expected, found] = layouts.map(|layout| {
                let layer = layout.layer(0);
                let mut blocks: Vec<Block> =
                    (0..POSITIONS.div_ceil(BLOCK)).map(|_| Block::new(&layout)).collect();
                for (position, key) in keys.chunks_exact(head_dim).enumerate() {
                    blocks[position / BLOCK].write(layer, position % BLOCK, key, key);
                }
                let run = |cpu: &Cpu| {
                    let (blocks, start) = (blocks.iter().collect(), POSITIONS - 70);
                    let queries = Queries { blocks, first_block: 0, start, rows: 0..70 };
                    let scoring = Scoring::new(head_dim);
                    cpu.enter(|| kernels::attention(&q, 5, layer, scoring, &[queries]))
                };
                cpus().iter().map(|cpu| bits(&run(cpu))).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{format:?}, heads of {head_dim}");
        }
    }
}

/// Blocks behind the window need not be there, and a row has the same bits alone and among others.
#[test]
fn a_window_reads_its_tiles_only() {
    const POSITIONS: usize = 700;
    let mut numbers = Numbers::new(12, false);
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let mut blocks: Vec<Block> =
        (0..POSITIONS.div_ceil(32)).map(|_| Block::new(&one_head())).collect();
    for position in 0..POSITIONS {
        let (key, value) = (numbers.take(16), numbers.take(16));
        blocks[position / 32].write(one_head().layer(0), position % 32, &key, &value);
        keys.push(key);
        values.push(value);
    }
    let q: Vec<f32> = numbers.take(POSITIONS * 2 * 16);
    for window in [1, 8, 31, 32, 33, 100, 256, 300, 699] {
        let scoring = Scoring { window: Some(window), ..Scoring::new(16) };
        let run = |cpu: &Cpu, rows: std::ops::Range<usize>| {
            let first_block = (rows.start + 1).saturating_sub(window) / 32;
            let kept = blocks[first_block..].iter().collect();
            let count = rows.len();
            let queries = Queries { blocks: kept, first_block, start: rows.start, rows: 0..count };
            let q = &q[rows.start * 32..rows.end * 32];
            cpu.enter(|| kernels::attention(q, 2, one_head().layer(0), scoring, &[queries]))
        };
        let cpus = cpus();
        let whole = run(&cpus[0], 0..POSITIONS);
        for cpu in &cpus {
            for rows in [0..40, 250..263, 300..301, 640..700, 699..700] {
                let expected = &whole[rows.start * 32..rows.end * 32];
                assert_eq!(bits(&run(cpu, rows.clone())), bits(expected), "{window} {rows:?}");
            }
        }
        for (i, found) in whole.chunks(16).enumerate().step_by(97) {
            let position = i / 2;
            let seen = (position + 1).saturating_sub(window)..position + 1;
            let q = &q[i * 16..(i + 1) * 16];
            let expected = attend(q, &keys[seen.clone()], &values[seen]);
            for (found, expected) in found.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

/// Below all scores, among them, and so far above that nothing is left: the same on every machine.
#[test]
fn a_sink_takes_its_part_of_the_weights() {
    let mut numbers = Numbers::new(13, false);
    let mut block = Block::new(&one_head());
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for position in 0..20 {
        let (key, value) = (numbers.take(16), numbers.take(16));
        block.write(one_head().layer(0), position, &key, &value);
        keys.push(key);
        values.push(value);
    }
    let sinks = [-1000.0, 0.5, 1000.0];
    let scoring = Scoring { sinks: Some(&sinks), ..Scoring::new(16) };
    let q = numbers.take(20 * 3 * 16);
    let run = |cpu: &Cpu| {
        let queries = Queries { blocks: vec![&block], first_block: 0, start: 0, rows: 0..20 };
        cpu.enter(|| kernels::attention(&q, 3, one_head().layer(0), scoring, &[queries]))
    };
    let cpus = cpus();
    let reference = run(&cpus[0]);
    for cpu in &cpus {
        assert_eq!(bits(&run(cpu)), bits(&reference), "{cpu:?}");
    }
    for (i, found) in reference.chunks(16).enumerate() {
        let (sink, seen) = (f64::from(sinks[i % 3]), ..=i / 3);
        let expected = attend_beside(sink, &q[i * 16..][..16], &keys[seen], &values[seen]);
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}

/// A value that is infinite, or not a number, reaches those that may look at it and no other.
#[test]
fn what_comes_later_is_not_seen() {
    let mut numbers = Numbers::new(11, false);
    let mut block = Block::new(&one_head());
    for position in 0..20 {
        let (keys, mut values) = (numbers.take(16), numbers.take(16));
        if position >= 10 {
            values[3] = f32::INFINITY;
            values[4] = f32::NAN;
        }
        block.write(one_head().layer(0), position, &keys, &values);
    }
    let q = numbers.take(20 * 16);
    for cpu in cpus() {
        let queries = Queries { blocks: vec![&block], first_block: 0, start: 0, rows: 0..20 };
        let scoring = Scoring::new(16);
        let found =
            cpu.enter(|| kernels::attention(&q, 1, one_head().layer(0), scoring, &[queries]));
        for (position, row) in found.chunks(16).enumerate() {
            assert_eq!(row[3].is_finite(), position < 10, "{cpu:?}, {position}");
            assert_eq!(row[4].is_nan(), position >= 10, "{cpu:?}, {position}");
        }
    }
}

/// Two threads would write to it.
#[test]
#[should_panic(expected = "no row in two of them")]
fn a_row_of_two_sequences_is_refused() {
    let block = Block::new(&one_head());
    let sequence = |rows| Queries { blocks: vec![&block], first_block: 0, start: 0, rows };
    let sequences = [sequence(0..2), sequence(1..3)];
    kernels::attention(&[0.0; 3 * 16], 1, one_head().layer(0), Scoring::new(16), &sequences);
}
