//! What a constraint costs: the mask of a state that is new, and of one that was seen, for the
//! bundled model's vocabulary and for one of 151,936 tokens; and a text with and without.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use slowburn::constrained::Vocabulary;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::grammar::Grammar;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams};

/// From few tokens that are allowed to nearly all of them.
const PATTERNS: [(&str, &str); 3] = [
    ("a name", "[A-Z][a-z]+"),
    ("a number", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"),
    ("anything", "(?s:.)*"),
];

fn bundled() -> Pretrained {
    let device = device::open(DeviceChoice::Auto).unwrap();
    Pretrained::bundled(&device, Precision::F32).unwrap()
}

/// As many tokens as Qwen's have: all bytes, and words of one to three syllables, with and without a
/// space before them.
fn large() -> Vocabulary {
    const SIZE: usize = 151_936;
    const STARTS: [&str; 20] = [
        "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr",
        "sh", "",
    ];
    const ENDS: [&str; 16] = [
        "a", "e", "i", "o", "u", "an", "er", "in", "on", "us", "al", "ed", "ing", "ess", "ion", "y",
    ];
    let bytes = |id: u32| match usize::try_from(id).unwrap_or(0) {
        byte @ 0..256 => vec![byte as u8],
        id => {
            let mut left = id - 256;
            let mut text = [" ", "", "_"][left % 3].to_owned();
            left /= 3;
            while left > 0 {
                text += STARTS[left % 20];
                left /= 20;
                text += ENDS[left % 16];
                left /= 16;
            }
            text.into_bytes()
        }
    };
    Vocabulary::new(SIZE, |id| Some(bytes(id)), vec![SIZE as u32 - 1])
}

fn masks(criterion: &mut Criterion) {
    let pretrained = bundled();
    let config = pretrained.model.config();
    let small = Vocabulary::new(
        config.vocab_size,
        |id| pretrained.tokenizer.token_bytes(id),
        config.eos_token_ids.clone(),
    );
    for vocabulary in [small, large()] {
        let vocabulary = Arc::new(vocabulary);
        let logits = vec![0.0; vocabulary.size()];
        let mut group = criterion.benchmark_group(format!("{} tokens", vocabulary.size()));
        for (name, pattern) in PATTERNS {
            let grammar = Grammar::Regex(pattern.to_owned());
            let constraint = grammar.compile(vocabulary.clone()).unwrap();
            group.bench_function(format!("{name}: a new state"), |bencher| {
                let new = || constraint.fresh().follow();
                bencher.iter_batched(new, |new| new.next(&[]).unwrap(), BatchSize::LargeInput);
            });
            let follower = constraint.follow();
            group.bench_function(format!("{name}: a known one"), |bencher| {
                bencher.iter(|| follower.next(black_box(&[])).unwrap());
            });
            let sampler = Sampler::new(&SamplingParams::default()).unwrap();
            let sampler = sampler.with_constraint(&constraint);
            group.bench_function(format!("{name}: applied"), |bencher| {
                bencher.iter(|| sampler.constrained(black_box(&logits), &[]).unwrap().len());
            });
        }
        group.finish();
    }
}

fn texts(criterion: &mut Criterion) {
    let pretrained = bundled();
    let anything = Grammar::Regex("(?s:.)*".to_owned());
    let anything = pretrained.constraint(&anything).unwrap();
    let mut group = criterion.benchmark_group("100 tokens");
    group.sample_size(20);
    for (name, constraint) in [("without", None), ("with a constraint", Some(anything))] {
        let options = Options {
            max_tokens: 100,
            ignore_eos: true,
            constraint,
            ..Options::default()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let go_on = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
                generate::cached(&pretrained.model, &[0], &options, go_on).unwrap().ids.len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, masks, texts);
criterion_main!(benches);
