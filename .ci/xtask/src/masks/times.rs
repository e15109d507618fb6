//! How long masks take, of this crate and of two others, on the same texts.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, anyhow};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use slowburn::constrained::{Constraint, Vocabulary};
use slowburn::grammar::Grammar;
use slowburn::sampling::{Sampler, SamplingParams};

use super::MasksArgs;
use crate::bench::{Process, python};

const SCRIPT: &str = "masks_peer.py";

/// From few tokens that are allowed to nearly all of them.
const EXPRESSIONS: [(&str, &str); 5] = [
    ("a date", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("a name", "[A-Z][a-z]+"),
    ("a record", r#"\{"name": "[^"\\\x00-\x1f]{1,40}", "age": [0-9]{1,3}\}"#),
    ("sentences", "[A-Z][^.!?]*[.!?]( [A-Z][^.!?]*[.!?])*"),
    ("anything", "(?s:.)+"),
];

/// How many texts are walked for each expression, and the most tokens of each.
const TEXTS: usize = 8;
const TOKENS: usize = 48;

#[derive(Serialize)]
struct Walk<'a> {
    regex: &'a str,
    texts: Vec<Vec<u32>>,
}

/// The seconds that an engine took.
#[derive(Deserialize)]
struct Times {
    engine: String,
    compile: f64,
    /// For each step of all texts, at the first and at the second pass through them.
    first: Vec<f64>,
    again: Vec<f64>,
}

pub fn run(args: &MasksArgs, vocabulary: &Arc<Vocabulary>) -> Result<()> {
    let name = python::name(&args.python, SCRIPT).map_err(|reason| anyhow!(reason))?;
    let mut command = python::command(&args.python, SCRIPT);
    command.arg(&args.tokenizer).arg(args.end_id.to_string());
    let mut peers = Process::start(command)?;
    println!("{} tokens, beside {name}\n", vocabulary.size());
    println!(
        "| expression | engine | compiled, ms | first pass, median µs | worst | second pass, median µs | worst |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    for (name, regex) in EXPRESSIONS {
        let grammar = Grammar::Regex(regex.to_owned());
        let begin = Instant::now();
        let constraint = grammar.compile(vocabulary.clone())?;
        let compile = begin.elapsed().as_secs_f64();
        let texts = texts(&constraint)?;
        // The mask of the first state was computed when it was compiled.
        let [first, again] = ours(&constraint.fresh(), &texts)?;
        let ours = Times { engine: "Slow Burn".to_owned(), compile, first, again };
        let walk = Walk { regex, texts };
        let theirs: Vec<Times> = peers.ask(&walk)?;
        for mut times in [ours].into_iter().chain(theirs) {
            let compile = 1e3 * times.compile;
            let [first, first_worst] = micros(&mut times.first);
            let [again, again_worst] = micros(&mut times.again);
            println!(
                "| {name} | {} | {compile:.1} | {first:.1} | {first_worst:.0} | {again:.1} | {again_worst:.0} |",
                times.engine
            );
        }
    }
    sampler(vocabulary, args.rounds)
}

/// Random texts under the constraint: at each step any of the tokens that are allowed.
fn texts(constraint: &Constraint) -> Result<Vec<Vec<u32>>> {
    let mut generator = ChaCha12Rng::seed_from_u64(7);
    let ends = constraint.vocabulary().end_ids();
    let mut texts = Vec::new();
    for _ in 0..TEXTS {
        let (follower, mut text) = (constraint.follow(), Vec::new());
        while text.len() < TOKENS {
            let mask = follower.next(&text)?;
            let allowed: Vec<u32> = mask.mask().ids().filter(|id| !ends.contains(id)).collect();
            if allowed.is_empty() {
                break;
            }
            text.push(allowed[generator.next_u64() as usize % allowed.len()]);
        }
        texts.push(text);
    }
    Ok(texts)
}

/// The seconds of each step, at the first pass through the texts and at the second.
fn ours(constraint: &Constraint, texts: &[Vec<u32>]) -> Result<[Vec<f64>; 2]> {
    let pass = || {
        let mut seconds = Vec::new();
        for text in texts {
            let follower = constraint.follow();
            for length in 0..=text.len() {
                let begin = Instant::now();
                let next = black_box(follower.next(black_box(&text[..length]))?);
                seconds.push(begin.elapsed().as_secs_f64());
                drop(next);
            }
        }
        anyhow::Ok(seconds)
    };
    Ok([pass()?, pass()?])
}

/// The median and the worst of some seconds, in microseconds.
fn micros(seconds: &mut [f64]) -> [f64; 2] {
    seconds.sort_by(f64::total_cmp);
    let micros = |at: Option<&f64>| 1e6 * at.copied().unwrap_or(0.0);
    [
        micros(seconds.get(seconds.len() / 2)),
        micros(seconds.last()),
    ]
}

/// The time of a sampler that draws from this many scores, with and without a constraint.
fn sampler(vocabulary: &Arc<Vocabulary>, rounds: usize) -> Result<()> {
    const DRAWS: u32 = 20;
    let logits: Vec<f32> =
        (0..vocabulary.size()).map(|id| (id * 7919 % 1000) as f32 / 100.0).collect();
    let params = SamplingParams { temperature: 0.8, ..SamplingParams::default() };
    let mut samplers = vec![("no constraint", Sampler::new(&params)?)];
    for (name, regex) in EXPRESSIONS {
        let constraint = Grammar::Regex(regex.to_owned()).compile(vocabulary.clone())?;
        samplers.push((name, Sampler::new(&params)?.with_constraint(&constraint)));
    }
    let mut times = vec![Vec::new(); samplers.len()];
    for round in 0..=rounds {
        for ((_, sampler), times) in samplers.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            for _ in 0..DRAWS {
                black_box(sampler.sample(black_box(&logits), &[], &[])?);
            }
            if round > 0 {
                times.push(begin.elapsed().as_secs_f64() / f64::from(DRAWS));
            }
        }
    }
    println!("\n| | a token drawn, µs |\n|---|---:|");
    for ((name, _), times) in samplers.iter().zip(&mut times) {
        let [median, _] = micros(times);
        println!("| {name} | {median:.0} |");
    }
    Ok(())
}
