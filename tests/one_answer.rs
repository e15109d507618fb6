//! On the CPU a token's logits have the same bits whichever way they are computed: naive or
//! cached, with the prompt whole or in chunks, alone or beside others, on any number of threads,
//! with any instruction set, in every type that weights, keys and values are stored in.

#![cfg(feature = "flex")]

mod common;

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use common::fixture;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::kernels::{Activations, Cpu, KvFormat, Quantized, Rounding, Simd};
use slowburn::kv::KvCache;
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;
use slowburn::storage::{MatrixFormat, Storage};
use slowburn_tests::MODELS;

/// What a model is stored in: weights, and keys and values.
struct Stored {
    name: &'static str,
    weights: Precision,
    quantized: Option<Quantized>,
    activations: Activations,
    kv: KvFormat,
}

const STORED: [Stored; 9] = [
    dense("f32", Precision::F32, KvFormat::F32),
    dense("f16", Precision::F16, KvFormat::F16),
    dense("bf16", Precision::Bf16, KvFormat::Bf16),
    Stored {
        activations: Activations::Bf16,
        ..dense("bf16-activations-bf16", Precision::Bf16, KvFormat::Bf16)
    },
    dense("f32-kv-int8", Precision::F32, KvFormat::Int8),
    quantized("int8", Quantized::Int8, KvFormat::F32),
    quantized("int4-kv-f16", Quantized::Int4, KvFormat::F16),
    rounded("int8-activations-int8", Quantized::Int8, KvFormat::F32),
    rounded("int4-activations-int8", Quantized::Int4, KvFormat::Int8),
];

const fn dense(name: &'static str, weights: Precision, kv: KvFormat) -> Stored {
    let activations = Activations::F32;
    Stored { name, weights, quantized: None, activations, kv }
}

const fn quantized(name: &'static str, format: Quantized, kv: KvFormat) -> Stored {
    let activations = Activations::F32;
    let (weights, quantized) = (Precision::F32, Some(format));
    Stored { name, weights, quantized, activations, kv }
}

const fn rounded(name: &'static str, format: Quantized, kv: KvFormat) -> Stored {
    Stored {
        activations: Activations::Int8,
        ..quantized(name, format, kv)
    }
}

impl Stored {
    fn storage(&self) -> Storage {
        Storage {
            layers: self.quantized,
            embedding: self.quantized.map(MatrixFormat::Quantized),
            rounding: Rounding::Nearest,
            activations: self.activations,
            ..self.weights.into()
        }
    }
}

/// Every way to compute on this machine: all instruction sets, on 1, 2 and 4 threads.
fn cpus() -> Vec<Cpu> {
    let ways = Simd::available().into_iter().flat_map(|simd| [1, 2, 4].map(|n| (simd, n)));
    ways.map(|(simd, threads)| Cpu::new(simd, threads).unwrap()).collect()
}

fn load(name: &str, stored: &Stored, cpu: &Cpu) -> Model {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let load = || match name {
        "ember" => Pretrained::bundled(&device, stored.storage()),
        name => Pretrained::load(&fixture(&format!("models/{name}")), &device, stored.storage()),
    };
    cpu.enter(load).unwrap().model.with_kv_format(stored.kv).unwrap()
}

/// A model that is stored in one of the ways, loaded once for each way to compute. The last three are without
/// vector instructions.
fn loaded(name: &'static str, stored: usize) -> &'static [Model] {
    type Models = HashMap<(&'static str, usize), OnceLock<Vec<Model>>>;
    static ALL: LazyLock<Models> = LazyLock::new(|| {
        let each = |name| (0..STORED.len()).map(move |i| ((name, i), OnceLock::new()));
        MODELS.into_iter().flat_map(each).collect()
    });
    let load_all = || cpus().iter().map(|cpu| load(name, &STORED[stored], cpu)).collect();
    ALL[&(name, stored)].get_or_init(load_all)
}

fn bits(rows: &[Vec<f32>]) -> Vec<Vec<u32>> {
    rows.iter().map(|row| row.iter().map(|logit| logit.to_bits()).collect()).collect()
}

/// Several sequences, and how they are fed to the model.
#[derive(Debug, Clone)]
struct Schedule {
    model: &'static str,
    stored: usize,
    /// Which of the ways to compute is used, out of how many there are.
    way: prop::sample::Index,
    sequences: Vec<Vec<u32>>,
    /// For each pass: how many tokens each sequence reads in it. One that reads none takes no part.
    passes: Vec<Vec<usize>>,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let sequences = prop::collection::vec(prop::collection::vec(0..40u32, 1..60), 1..5);
    let pass = prop::collection::vec(prop_oneof![Just(0usize), Just(1), 1..40usize], 5);
    let way = any::<prop::sample::Index>();
    (
        prop::sample::select(&MODELS),
        0..STORED.len(),
        way,
        sequences,
        prop::collection::vec(pass, 1..8),
    )
        .prop_map(|(model, stored, way, sequences, passes)| Schedule {
            model,
            stored,
            way,
            sequences,
            passes,
        })
}

/// The logits after every token of every sequence, as the schedule computes them.
fn run(schedule: &Schedule, model: &Model) -> Vec<Vec<Vec<f32>>> {
    let sequences = &schedule.sequences;
    let new_cache = |ids: &Vec<u32>| model.new_cache(ids.len()).unwrap();
    let mut caches: Vec<KvCache> = sequences.iter().map(new_cache).collect();
    let mut rows = vec![Vec::new(); sequences.len()];
    let rest = vec![usize::MAX; sequences.len()];
    for pass in schedule.passes.iter().chain([&rest]) {
        let mut order = Vec::new();
        let mut inputs = Vec::new();
        for (i, cache) in caches.iter_mut().enumerate() {
            let left = &sequences[i][cache.length()..];
            let tokens = &left[..pass[i].min(left.len())];
            if !tokens.is_empty() {
                order.extend(std::iter::repeat_n(i, tokens.len()));
                inputs.push(Input::after(cache, tokens).with_logits(Logits::All));
            }
        }
        for (i, row) in order.into_iter().zip(model.forward(&mut inputs).unwrap()) {
            rows[i].push(row);
        }
    }
    rows
}

fn check(schedule: &Schedule) {
    let models = loaded(schedule.model, schedule.stored);
    let found = run(schedule, schedule.way.get(models));
    for (ids, found) in schedule.sequences.iter().zip(&found) {
        let mut whole = [Input::whole(ids).with_logits(Logits::All)];
        let reference = models[0].forward(&mut whole).unwrap();
        assert_eq!(bits(found), bits(&reference), "{schedule:?}");
        // The naive loop asks for the last row only.
        let last = models[0].forward(&mut [Input::whole(ids)]).unwrap();
        assert_eq!(bits(&last), bits(&reference[ids.len() - 1..]));
    }
}

/// `SLOWBURN_SCHEDULES` says how many are tried.
#[test]
fn the_bits_of_a_token_do_not_depend_on_the_schedule() {
    let cases = std::env::var("SLOWBURN_SCHEDULES").ok().and_then(|count| count.parse().ok());
    let testers = Cpu::cores() as u32;
    let config = Config {
        cases: cases.unwrap_or(60_u32).div_ceil(testers),
        failure_persistence: None,
        ..Config::default()
    };
    let run = || {
        let outcome = TestRunner::new(config.clone()).run(&schedules(), |schedule| {
            check(&schedule);
            Ok(())
        });
        outcome.unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..testers {
            scope.spawn(run);
        }
    });
}

/// Long enough that scores are kept in several spans, and that these are shared by threads.
#[test]
fn long_sequences_have_the_same_bits_on_every_way() {
    let ids: Vec<u32> = (0..500).map(|i| (i * 37 + i * i % 11) % 300).collect();
    for stored in [0, 1, 3, 4, 5] {
        let models = loaded("ember", stored);
        let reference = models[0].forward(&mut [Input::whole(&ids)]).unwrap();
        // Without vector instructions it takes long.
        let vectors = models.len() - 3;
        for (i, model) in models.iter().enumerate().take(vectors + 1) {
            let chunks = if i < vectors {
                &[256, 255, 33, 499][..]
            } else {
                &[100]
            };
            for &chunk in chunks {
                let mut cache = model.new_cache(ids.len()).unwrap();
                let mut last = Vec::new();
                for tokens in ids.chunks(chunk) {
                    last = model.forward(&mut [Input::after(&mut cache, tokens)]).unwrap();
                }
                assert_eq!(bits(&last), bits(&reference), "way {i}, chunks of {chunk}");
            }
        }
    }
}

/// The loops choose from the same logits, so that even a draw cannot part.
#[test]
fn loops_and_batches_have_the_same_hash() {
    let prompts: [&[u32]; 3] = [&[5, 6, 7], &[9; 40], &[1, 2]];
    let options = |chunk| Options {
        max_tokens: 20,
        ignore_eos: true,
        hash_logits: true,
        chunk,
        ..Options::default()
    };
    for name in MODELS {
        let models = loaded(name, 0);
        let alone = prompts.map(|prompt| {
            generate::naive(&models[0], prompt, &options(256), &mut common::go_on).unwrap()
        });
        // Each instruction set meets each length of chunks, with another number of threads.
        for (way, model) in models.iter().enumerate() {
            let chunk = [1, 7, 256][(way + way / 3) % 3];
            let all = prompts.map(<[u32]>::to_vec);
            let options = vec![options(chunk); 3];
            let mut go_on = |_, _| std::ops::ControlFlow::Continue(());
            let found = generate::batched(model, &all, &options, &mut go_on).unwrap();
            for (i, (found, alone)) in found.iter().zip(&alone).enumerate() {
                assert_eq!(found.logits_hash, alone.logits_hash, "{name}, {i}, {chunk}");
                assert_eq!(found.ids, alone.ids);
                let cached = generate::cached(model, prompts[i], &options[i], &mut common::go_on);
                assert_eq!(cached.unwrap().logits_hash, alone.logits_hash);
            }
        }
    }
}

/// What these hashes were on the machine where they were made: one list for x86-64 and 64-bit Arm,
/// and one for wasm32, where a product is rounded before it is added. With `.ci/unfused`, any
/// processor computes as wasm32 does.
const RECORDED: &str = if cfg!(any(target_arch = "wasm32", slowburn_unfused)) {
    include_str!("fixtures/logits_hashes_unfused.txt")
} else {
    include_str!("fixtures/logits_hashes.txt")
};

/// A machine, an instruction set or a compiler that gives other bits is found out here. After a
/// change that is meant to move them, run with `SLOWBURN_PRINT_HASHES=1`, also with `.ci/unfused`,
/// and put what it prints into the files.
#[test]
fn the_bits_are_those_that_were_recorded() {
    let mut found = String::new();
    for name in MODELS {
        for (i, stored) in STORED.iter().enumerate() {
            let options = Options {
                max_tokens: 40,
                ignore_eos: true,
                hash_logits: true,
                ..Options::default()
            };
            let prompt: Vec<u32> = (0..50).map(|i| i * 7 % 40).collect();
            let model = &loaded(name, i)[0];
            let generation =
                generate::cached(model, &prompt, &options, &mut common::go_on).unwrap();
            found += &format!("{name} {} {}\n", stored.name, generation.logits_hash.unwrap());
        }
    }
    if std::env::var_os("SLOWBURN_PRINT_HASHES").is_some() {
        print!("{found}");
        return;
    }
    assert_eq!(found, RECORDED);
}
