//! What the loops cost on the bundled model: prefill, one decode step, and both loops.
//!
//! cargo bench --bench generation
//! cargo bench --bench generation -- --quick

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Loop, Options};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

/// How many decode steps are timed before the cache is filled anew. A step at 128 cached tokens
/// is thus a step at 128 to 159: what lies between costs less than the clock can tell.
const STEPS: u64 = 32;

fn bundled() -> Model {
    let device = device::open(DeviceChoice::Auto).unwrap();
    Pretrained::bundled(&device, Precision::F32).unwrap().model
}

/// `n` ids that are all in the vocabulary.
fn ids(n: u32) -> Vec<u32> {
    (0..n).map(|i| 2 + i * 31 % 1000).collect()
}

fn prefill(criterion: &mut Criterion) {
    let model = bundled();
    let prompt = ids(128);
    let mut group = criterion.benchmark_group("prefill");
    group.throughput(Throughput::Elements(128));
    group.bench_function("128 tokens", |bencher| {
        bencher.iter(|| {
            let mut cache = model.new_cache(prompt.len()).unwrap();
            model.forward(&prompt, Some(&mut cache)).unwrap()
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

/// The time of `steps` decode steps that each find at least the prompt in the cache.
fn time_steps(model: &Model, prompt: &[u32], mut steps: u64) -> Duration {
    let mut total = Duration::ZERO;
    while steps > 0 {
        let mut cache = model.new_cache(prompt.len() + STEPS as usize).unwrap();
        model.forward(prompt, Some(&mut cache)).unwrap();
        let now = steps.min(STEPS);
        let start = Instant::now();
        for _ in 0..now {
            model.forward(&[7], Some(&mut cache)).unwrap();
        }
        total += start.elapsed();
        steps -= now;
    }
    total
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
