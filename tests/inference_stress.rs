//! Many callers at once, who read, dawdle, cancel, leave and run out of time, as they like.
//!
//! It is alone in its file, so that the memory of the process is its own.

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::watchdog::watch;
use common::{device, go_on, load};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::Result;
use slowburn::generate::{self, Options};
use slowburn::inference::{
    FinishReason, GenerateRequest, In, Inference, InferenceBuilder, Job, Load, ModelAccessor,
    OutStream, State, TokenOutput,
};
use slowburn::pretrained::Pretrained;

const THREADS: u64 = 8;
const JOBS: u64 = 8;
const PROMPTS: [&str; 4] = ["Once", "a", "upon a time there was", "x"];
const SEEDS: u64 = 3;
const TOKENS: usize = 40;

type Model = Arc<Pretrained>;
/// A clone of it lives in each callback: when all jobs are gone, only the first is left.
type Probe = Arc<()>;
type Probed = Inference<GenerateRequest, TokenOutput, Model, Probe>;

fn handler(
    In(request): In<GenerateRequest>,
    model: ModelAccessor<Model>,
    State(probe): State<Probe>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    model.prepare(&request)?.start(move |token| {
        let _ = &probe;
        output.emit(token)
    })
}

fn request(prompt: &str, seed: u64) -> GenerateRequest {
    GenerateRequest::new(prompt).with_max_tokens(TOKENS).with_ignore_eos(true).with_seed(seed)
}

/// The ids that each request has alone.
fn references(model: &Pretrained) -> HashMap<(&'static str, u64), Vec<u32>> {
    let all = PROMPTS.iter().flat_map(|&prompt| (0..SEEDS).map(move |seed| (prompt, seed)));
    let alone = |(prompt, seed)| {
        let options = Options {
            max_tokens: TOKENS,
            sampling: request(prompt, seed).sampling,
            ignore_eos: true,
            ..Options::default()
        };
        let ids = model.prompt_ids(prompt).unwrap();
        let found = generate::cached(&model.model, &ids, &options, &mut go_on).unwrap();
        ((prompt, seed), found.ids)
    };
    all.map(alone).collect()
}

/// What a caller does with a job.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Reads,
    Cancels,
    Drops,
    JoinsEarly,
    Dawdles,
    IsInAHurry,
    CancelsFromElsewhere,
}

const MANNERS: [Manner; 7] = [
    Manner::Reads,
    Manner::Cancels,
    Manner::Drops,
    Manner::JoinsEarly,
    Manner::Dawdles,
    Manner::IsInAHurry,
    Manner::CancelsFromElsewhere,
];

/// A job, and what is to become of it.
struct Plan<'a> {
    job: Job<TokenOutput>,
    manner: Manner,
    /// After how many tokens.
    after: usize,
    /// What it writes alone.
    reference: &'a [u32],
}

fn spawn<'a>(
    inference: &Probed,
    references: &'a HashMap<(&'static str, u64), Vec<u32>>,
    random: &mut ChaCha8Rng,
) -> Plan<'a> {
    let mut below = |n: u64| random.next_u64() % n;
    let prompt = PROMPTS[below(PROMPTS.len() as u64) as usize];
    let seed = below(SEEDS);
    let manner = MANNERS[below(7) as usize];
    let after = below(TOKENS as u64 + 5) as usize;
    let mut request = request(prompt, seed);
    if manner == Manner::IsInAHurry {
        request = request.with_deadline(Duration::from_micros(below(200_000) + 1));
    }
    Plan {
        job: inference.infer(request).spawn(),
        manner,
        after,
        reference: &references[&(prompt, seed)],
    }
}

fn carry_out(plan: Plan<'_>) {
    let Plan { job, manner, after, reference } = plan;
    let mut outputs = Vec::new();
    for output in &job.stream {
        outputs.push(output);
        let now = outputs.len() == after;
        match manner {
            Manner::Cancels if now => job.cancel(),
            Manner::Drops if now => return, // with its stream half read
            Manner::JoinsEarly if now => break,
            Manner::Dawdles => thread::sleep(Duration::from_millis(1)),
            Manner::CancelsFromElsewhere if now => {
                let cancel = job.cancel_token();
                thread::spawn(move || cancel.cancel());
            }
            _ => {}
        }
    }
    let completion = job.join().unwrap();

    let n = outputs.len();
    for (i, (output, id)) in outputs.iter().zip(reference).enumerate() {
        assert_eq!((output.index, output.token_id), (i, *id), "token {i}");
    }
    let tokens = completion.usage.completion_tokens;
    match completion.finish_reason {
        FinishReason::Length => assert_eq!(tokens, TOKENS),
        FinishReason::Deadline => assert!(manner == Manner::IsInAHurry),
        FinishReason::Cancelled => {
            assert!([Manner::Cancels, Manner::CancelsFromElsewhere].contains(&manner));
        }
        reason => panic!("{reason:?}"),
    }
    match manner {
        Manner::JoinsEarly => assert!(n <= tokens),
        _ => assert_eq!(n, tokens, "nothing is lost"),
    }
}

/// Everybody's jobs, all of them at once. Returns when all of them are over.
fn round(inference: &Probed, references: &HashMap<(&'static str, u64), Vec<u32>>, number: u64) {
    thread::scope(|scope| {
        for caller in 0..THREADS {
            scope.spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(number * THREADS + caller);
                let spawn = |_| spawn(inference, references, &mut random);
                let plans: Vec<_> = (0..JOBS).map(spawn).collect();
                // While one is read, the others wait for their reader.
                plans.into_iter().rev().for_each(carry_out);
            });
        }
    });
}

/// The memory of this process that is in use, where the system tells.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

#[test]
fn sixty_four_jobs_from_eight_threads_end_as_they_should_and_leave_nothing() {
    watch(|| {
        let model = Arc::new(load("llama-gqa", &device()));
        let references = references(&model);
        let probe: Probe = Arc::new(());
        let mut resident = Vec::new();
        for number in 0..10 {
            let inference = InferenceBuilder::new()
                .with_model(model.clone())
                .with_state(probe.clone())
                .with_stream_capacity(1 + number as usize)
                .with_max_running(if number % 2 == 0 { 64 } else { 5 })
                .build(handler)
                .unwrap();
            round(&inference, &references, number);
            let nothing = Load { running: 0, paused: 0, waiting: 0, kv_cache_bytes: 0 };
            assert_eq!(inference.load().unwrap(), nothing);
            drop(inference);
            assert_eq!(Arc::strong_count(&probe), 1, "a callback is left");
            assert_eq!(Arc::strong_count(&model), 1, "a thread is left");
            resident.extend(resident_bytes());
        }
        // The first rounds fill what the allocator keeps. The caches alone, if they were not
        // given back, would add more than 1 MiB a round.
        println!("resident bytes after each round: {resident:?}");
        if let [_, _, _, early, .., last] = resident[..] {
            assert!(last < early + (4 << 20), "resident bytes: {resident:?}");
        }
    });
}
