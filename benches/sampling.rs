//! What choosing a token costs, for vocabularies of 4k, 32k and 128k entries, next to one
//! decode step of the bundled model (whose own vocabulary has 2k).
//!
//! cargo bench --bench sampling
//! cargo bench --bench sampling -- --quick

mod steps;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use slowburn::sampling::{Sampler, SamplingParams};
use steps::{bundled, ids, time_steps};

/// Logits that fall off as those of a language model do: a few high ones, a long tail, in an
/// order that no rule could profit from.
fn logits(vocab: usize) -> Vec<f32> {
    (0..vocab)
        .map(|id| {
            let rank = (id * 7919) % vocab; // 7919 is prime, so this is a permutation
            12.0 - 2.0 * (rank as f32 + 1.0).ln()
        })
        .collect()
}

fn sampling(criterion: &mut Criterion) {
    let plain = SamplingParams::default();
    let settings = [
        ("temperature 1", plain.clone()),
        ("top-k 40", SamplingParams { top_k: Some(40), ..plain.clone() }),
        ("top-p 0.95", SamplingParams { top_p: Some(0.95), ..plain.clone() }),
        (
            "top-k 40, top-p 0.95, min-p 0.05, penalties",
            SamplingParams {
                top_k: Some(40),
                top_p: Some(0.95),
                min_p: Some(0.05),
                repetition_penalty: 1.1,
                presence_penalty: 0.1,
                ..plain
            },
        ),
    ];
    let prompt: Vec<u32> = (0..128).collect();
    let mut group = criterion.benchmark_group("sample");
    for vocab in [4 << 10, 32 << 10, 128 << 10] {
        let logits = logits(vocab);
        for (name, params) in &settings {
            let mut sampler = Sampler::new(params).unwrap();
            let id = BenchmarkId::new(*name, format!("{}k", vocab >> 10));
            group.bench_function(id, |bencher| {
                bencher.iter(|| sampler.sample(black_box(&logits), &prompt, &[]).unwrap());
            });
        }
    }
    group.finish();
}

/// The same step as in the bench `generation`.
fn decode_step(criterion: &mut Criterion) {
    let model = bundled();
    let prompt = ids(128);
    criterion.bench_function("a decode step of the bundled model, 128 cached", |bencher| {
        bencher.iter_custom(|steps| time_steps(&model, &prompt, steps));
    });
}

criterion_group!(benches, sampling, decode_step);
criterion_main!(benches);
