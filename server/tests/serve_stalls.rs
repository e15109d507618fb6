//! A hundred requests whose grammars take much work, next to clients that ask for none of it: streams that only
//! want their next token, and new requests that want their first.
//!
//! It measures times, so it runs by itself, with nothing else on the machine:
//! `cargo test -p slowburn-server --test serve_stalls -- --nocapture --test-threads 1`.

mod common;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::completions::COMPLETIONS;
use common::hostile;
use common::test_server::{TestServer, wait_until};
use serde_json::{Value, json};
use slowburn::grammar::Grammar;

/// Streams that are watched.
const STREAMS: usize = 4;
/// Clients that send one of the grammars after the other.
const CLIENTS: usize = 4;
/// How many sequences the requests ask for, one after the other.
const SEQUENCES: [u64; 4] = [64, 1, 8, 64];

/// How many more milliseconds there may be between two tokens, for 99 of 100 of them.
const MORE_AT_P99: f64 = 20.0;
/// How many more there may be at most, between two tokens and before the first: on a machine with two cores,
/// threads of the system's choice may have to wait for one another.
const MORE_AT_MOST: f64 = 1000.0;
/// How many more MB the process may have at the end: with the grammars that are kept, of 64 MB. Keys and values
/// that the prefix cache keeps aren't counted: it is off.
const MORE_MEMORY: usize = 128;

fn body(grammar: Option<&Grammar>, n: u64) -> Value {
    let mut body = json!({
        "prompt": "Once upon a time", "n": n, "max_tokens": 40, "temperature": 1.0, "seed": 1,
    });
    let Some(grammar) = grammar else {
        return body;
    };
    body["structured_outputs"] = match grammar {
        Grammar::Regex(pattern) => json!({"regex": pattern}),
        Grammar::Choice(texts) => json!({"choice": texts}),
        Grammar::JsonSchema(schema) => json!({"json": schema}),
        Grammar::Lark(grammar) => json!({"grammar": grammar}),
    };
    body
}

/// What the other clients waited for, in milliseconds, and in growing order.
#[derive(Default)]
struct Waits {
    between_tokens: Vec<f64>,
    for_the_first: Vec<f64>,
}

impl Waits {
    fn print(&self, when: &str) {
        for (what, waits) in [
            ("between two tokens", &self.between_tokens),
            ("for the first", &self.for_the_first),
        ] {
            let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(waits, share));
            println!(
                "{when}, {what}: p50 {p50:.1} ms, p99 {p99:.1} ms, at most {most:.1} ms, of {}",
                waits.len()
            );
        }
    }
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Reads streams of `max_tokens` tokens, one after the other, until `is_over`.
fn read_streams(server: &TestServer, max_tokens: u64, seed: u64, is_over: &AtomicBool) -> Waits {
    let mut waits = Waits::default();
    while !is_over.load(Ordering::Relaxed) {
        let request = json!({
            "prompt": "Once upon a time", "max_tokens": max_tokens, "ignore_eos": true, "seed": seed,
            "stream": true,
        });
        let mut connection = server.connect();
        let mut last = Instant::now();
        let mut of = &mut waits.for_the_first;
        connection.post(COMPLETIONS, &request.to_string()).unwrap();
        assert_eq!(connection.head().unwrap().status, 200);
        while let Some(_event) = connection.chunk().unwrap() {
            let now = Instant::now();
            of.push((now - last).as_secs_f64() * 1e3);
            (last, of) = (now, &mut waits.between_tokens);
            if is_over.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    waits
}

/// What the streams, and new requests, met while `work` ran.
fn watch(server: &TestServer, work: impl FnOnce()) -> Waits {
    let is_over = AtomicBool::new(false);
    let mut all = Waits::default();
    thread::scope(|scope| {
        let is_over = &is_over;
        let streams: Vec<_> = (0..STREAMS as u64)
            // The first asks for little, and soon again.
            .map(|seed| {
                let max_tokens = if seed == 0 { 3 } else { 450 };
                scope.spawn(move || read_streams(server, max_tokens, seed, is_over))
            })
            .collect();
        work();
        is_over.store(true, Ordering::Relaxed);
        for stream in streams {
            let waits = stream.join().unwrap();
            all.between_tokens.extend(waits.between_tokens);
            all.for_the_first.extend(waits.for_the_first);
        }
    });
    all.between_tokens.sort_by(f64::total_cmp);
    all.for_the_first.sort_by(f64::total_cmp);
    all
}

/// Fails where anybody waited much longer than without the grammars.
fn check(quiet: &Waits, loud: &Waits) {
    quiet.print("without grammars");
    loud.print("with grammars");
    let more = |of: fn(&Waits) -> &[f64], share| {
        percentile(of(loud), share) - percentile(of(quiet), share)
    };
    let at_p99 = more(|waits| &waits.between_tokens, 0.99);
    assert!(at_p99 <= MORE_AT_P99, "{at_p99:.1} ms more between two tokens at p99");
    let between = more(|waits| &waits.between_tokens, 1.0);
    assert!(between <= MORE_AT_MOST, "a stream stopped for {between:.0} ms more");
    let first = more(|waits| &waits.for_the_first, 1.0);
    assert!(first <= MORE_AT_MOST, "a new request waited {first:.0} ms more");
}

/// The memory of the process in MB: now, and at most.
fn memory() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok()).unwrap_or(0)
            / 1024
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// Sends all of these, a few at a time. What was answered how often.
fn send(server: &TestServer, bodies: &[(String, Value)]) -> BTreeMap<u16, usize> {
    let (next, statuses) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some((name, body)) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let (status, said) = server.ask(COMPLETIONS, &body.to_string());
                    *statuses.lock().unwrap().entry(status).or_default() += 1;
                    let said = if status == 200 { "" } else { &said };
                    println!("{:6.1} s {status} {name} {said:.160}", start.elapsed().as_secs_f64());
                }
            });
        }
    });
    statuses.into_inner().unwrap()
}

/// Sends requests with these grammars, and before that as many without: a large batch takes longer, whatever is
/// in it.
fn compare(server: &TestServer, grammars: &[(String, Grammar, u64)]) {
    let bodies = |constrains: bool| -> Vec<(String, Value)> {
        let body = |(name, grammar, n): &(String, Grammar, u64)| {
            (format!("{name}, {n} times"), body(Some(grammar).filter(|_| constrains), *n))
        };
        grammars.iter().map(body).collect()
    };
    let quiet = watch(server, || drop(send(server, &bodies(false))));
    let loud = watch(server, || {
        println!("{} grammars: {:?}", grammars.len(), send(server, &bodies(true)));
    });
    check(&quiet, &loud);
}

#[test]
fn nobody_waits_for_a_hundred_grammars_that_take_much_work() {
    let server = TestServer::start(&["--request-timeout", "20", "--no-prefix-cache"]);
    let hostile = hostile::grammars();
    let grammars: Vec<_> = (0..100)
        .map(|index| {
            let (name, grammar) = &hostile[index % hostile.len()];
            (name.clone(), grammar.clone(), SEQUENCES[index % SEQUENCES.len()])
        })
        .collect();
    assert!(grammars.len() >= hostile.len());
    let before = memory().0;
    compare(&server, &grammars);
    wait_until("the server is idle", || server.metrics().is_idle());
    let idle = Instant::now();
    // What is given back is given back soon.
    let most = before + MORE_MEMORY;
    while memory().0 > most && idle.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(500));
    }
    let (after, highest) = memory();
    println!(
        "memory: {before} MB before, {highest} MB at most, {after} MB {:.0} s after",
        idle.elapsed().as_secs_f64()
    );
    assert!(after <= most, "{after} MB stay, of which {before} were there before");
}

/// Each of its masks takes some tens of milliseconds, and all slots would wait for them.
#[test]
fn nobody_waits_for_a_schema_of_thousands_of_properties() {
    let server = TestServer::start(&["--request-timeout", "20"]);
    let hostile = hostile::grammars();
    let (name, grammar) =
        hostile.iter().find(|(name, _)| name == "3000 optional properties").unwrap();
    compare(&server, &[64; 3].map(|n| (name.clone(), grammar.clone(), n)));
}
