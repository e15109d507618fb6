//! A hundred requests whose grammars take much work, next to streams that only want their next token.
//!
//! It measures times, so it runs only where it is asked for, with nothing else on the machine:
//! `cargo test -p slowburn-server --test serve_stalls -- --ignored --nocapture`.

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
const CLIENTS: usize = 8;
/// How many more milliseconds there may be between two tokens, for 99 of 100 of them.
const ALLOWED: f64 = 20.0;

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

/// The times between the tokens of a stream, in milliseconds, until `is_over`.
fn gaps(server: &TestServer, seed: u64, is_over: &AtomicBool) -> Vec<f64> {
    let mut gaps = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let request = json!({
            "prompt": "Once upon a time", "max_tokens": 450, "ignore_eos": true, "seed": seed,
            "stream": true,
        });
        let mut connection = server.connect();
        connection.post(COMPLETIONS, &request.to_string()).unwrap();
        assert_eq!(connection.head().unwrap().status, 200);
        let mut last = None;
        while let Some(_event) = connection.chunk().unwrap() {
            let now = Instant::now();
            if let Some(last) = last.replace(now) {
                gaps.push((now - last).as_secs_f64() * 1e3);
            }
            if is_over.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    gaps
}

/// What the streams met while `work` ran.
fn watch(server: &TestServer, work: impl FnOnce()) -> Vec<f64> {
    let is_over = AtomicBool::new(false);
    let mut all: Vec<f64> = thread::scope(|scope| {
        let streams: Vec<_> = (0..STREAMS as u64)
            .map(|seed| {
                scope.spawn({
                    let is_over = &is_over;
                    move || gaps(server, seed, is_over)
                })
            })
            .collect();
        work();
        is_over.store(true, Ordering::Relaxed);
        streams.into_iter().flat_map(|stream| stream.join().unwrap()).collect()
    });
    all.sort_by(f64::total_cmp);
    all
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn describe(name: &str, sorted: &[f64]) {
    println!(
        "{name}: {} tokens, between two of them p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
        sorted.len(),
        percentile(sorted, 0.5),
        percentile(sorted, 0.99),
        percentile(sorted, 1.0)
    );
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
fn send(server: &TestServer, bodies: &[(&str, Value)]) -> BTreeMap<u16, usize> {
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

#[test]
#[ignore = "it measures times"]
fn streams_go_on_while_a_hundred_grammars_take_much_work() {
    let server = TestServer::start(&["--request-timeout", "20", "--max-sequences", "64"]);
    let grammars = hostile::grammars();
    let texts = |constrains: bool| -> Vec<(&str, Value)> {
        let body = |grammar| body(Some(grammar).filter(|_| constrains), 8);
        grammars.iter().map(|(name, grammar)| (name.as_str(), body(grammar))).collect()
    };
    // As many texts without a grammar: a large batch takes longer, whatever is in it.
    let mut statuses = BTreeMap::new();
    let quiet = watch(&server, || statuses = send(&server, &texts(false)));
    describe("without grammars", &quiet);
    let before = memory();
    let loud = watch(&server, || statuses = send(&server, &texts(true)));
    println!("{} grammars: {statuses:?}", grammars.len());
    describe("with grammars", &loud);
    wait_until("the server is idle", || server.metrics().is_idle());
    let after = memory();
    println!("memory: {} MB before, {} MB at most, {} MB after", before.0, after.1, after.0);
    thread::sleep(Duration::from_secs(25));
    println!("and {} MB half a minute later", memory().0);
    let more = percentile(&loud, 0.99) - percentile(&quiet, 0.99);
    assert!(more <= ALLOWED, "{more:.1} ms more between two tokens");
}
