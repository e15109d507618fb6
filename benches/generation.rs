//! What the loops cost on the bundled model: prefill, one decode step, and both loops.
//!
//! cargo bench --bench generation
//! cargo bench --bench generation -- --quick

mod steps;

use std::ops::ControlFlow;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slowburn::generate::{self, Loop, Options};
use slowburn::model::Input;
use slowburn::sampling::SamplingParams;
use steps::{bundled, ids, time_steps};

fn prefill(criterion: &mut Criterion) {
    let model = bundled();
    let prompt = ids(128);
    let mut group = criterion.benchmark_group("prefill");
    group.throughput(Throughput::Elements(128));
    group.bench_function("128 tokens", |bencher| {
        bencher.iter(|| {
            let mut cache = model.new_cache(prompt.len()).unwrap();
            model.forward(&mut [Input::after(&mut cache, &prompt)]).unwrap().remove(0)
        });
    });
    group.finish();
}

fn decode_step(criterion: &mut Criterion) {
    let model = bundled();
    let mut group = criterion.benchmark_group("decode step");
    group.throughput(Throughput::Elements(1));
    for cached in [128, 448] {
        let prompt = ids(cached);
        group.bench_function(BenchmarkId::from_parameter(format!("{cached} cached")), |bencher| {
            bencher.iter_custom(|steps| time_steps(&model, &prompt, steps));
        });
    }
    group.finish();
}

fn loops(criterion: &mut Criterion) {
    let model = bundled();
    let prompt = ids(16);
    let options = Options {
        max_tokens: 64,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ignore_eos: true,
        ..Options::default()
    };
    let mut group = criterion.benchmark_group("64 new tokens");
    group.sample_size(10).throughput(Throughput::Elements(64));
    let loops: [(&str, Loop); 2] = [("naive", generate::naive), ("cached", generate::cached)];
    for (name, generate) in loops {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                generate(&model, &prompt, &options, &mut |_| ControlFlow::Continue(())).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, prefill, decode_step, loops);
criterion_main!(benches);
