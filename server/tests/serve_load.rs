//! 200 requests over 32 connections: clients that read, dawdle, leave, send half of what they
//! wanted to, or nonsense.
//!
//! It is alone in its file, so that the memory and the threads of the process are its own.

mod common;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::completions::{COMPLETIONS, read_texts};
use common::counting::{Counting, settled};
use common::http_client::{Connection, Head, post};
use common::test_server::{TestServer, wait_until};
use common::watchdog::watch;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

#[global_allocator]
static COUNTING: Counting = Counting;

const REQUESTS: u64 = 200;
/// How many of them come once more: what a request leaves behind, it leaves each time.
const AGAIN: usize = 64;
const CONNECTIONS: usize = 32;

/// The server of the load. Its queue is too short for all, and its memory for those that run.
const FLAGS: [&str; 12] = [
    "--max-running",
    "8",
    "--token-budget",
    "32",
    "--max-waiting",
    "32",
    "--max-sequences",
    "2",
    "--kv-cache-bytes",
    "960KiB",
    "--read-timeout",
    "3",
];

/// A server without what could make a difference: neighbours, shared blocks, preemption.
const ALONE: [&str; 3] = ["--max-running", "1", "--no-prefix-cache"];

/// How many more bytes may be taken after the second time than after the first.
const ALLOWED: usize = 64 << 10;

const PROMPTS: [&str; 6] = [
    "Once upon a time",
    "Once upon a time, there was a small fox named Pip. Pip lived",
    "One day",
    "The storm",
    "a quiet girl lived by the sea",
    "",
];

/// What a client does with its request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Manner {
    /// Reads the stream to its end.
    Streams,
    /// Reads the whole answer.
    Collects,
    /// Reads a few bytes at a time, and takes its time.
    Dawdles,
    /// Reads so many bytes at most, and hangs up.
    Leaves { after: u64 },
    /// Sends so many bytes of the request, and hangs up.
    BreaksOff { after: usize },
    /// Sends so many bytes of the request, and waits.
    FallsSilent { after: usize },
    /// Sends nonsense, of this kind.
    Errs { kind: usize },
}

/// A request, and what becomes of it.
#[derive(Debug, Clone)]
struct Plan {
    manner: Manner,
    body: Value,
}

impl Plan {
    fn draw(number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let mut below = |n: u64| random.next_u64() % n;
        let mut body = json!({
            "prompt": (PROMPTS[below(PROMPTS.len() as u64) as usize]),
            "max_tokens": 1 + below(48),
            "temperature": ([0.0, 0.7, 1.0][below(3) as usize]),
            "top_p": ([0.8, 1.0][below(2) as usize]),
            "n": 1 + below(6) / 5,
            "seed": number,
        });
        if below(2) == 0 {
            body["ignore_eos"] = json!(true);
        }
        let length = post(COMPLETIONS, &body.to_string()).len() as u64;
        let manner = match below(20) {
            0..7 => Manner::Streams,
            7..11 => Manner::Collects,
            11..13 => Manner::Dawdles,
            13..15 => Manner::Leaves { after: below(4000) },
            15..17 => Manner::BreaksOff { after: below(length) as usize },
            17 => Manner::FallsSilent { after: below(length) as usize },
            _ => Manner::Errs { kind: below(NONSENSE.len() as u64) as usize },
        };
        let streams = match manner {
            Manner::Collects => false,
            Manner::Leaves { .. } => below(2) == 0,
            _ => true,
        };
        body["stream"] = json!(streams);
        Self { manner, body }
    }

    /// Whether the client gets a text.
    fn completes(&self) -> bool {
        matches!(self.manner, Manner::Streams | Manner::Collects | Manner::Dawdles)
    }
}

/// Bodies that no server can answer, and the status that they get.
const NONSENSE: [(&str, u16); 7] = [
    ("{\"prompt\": ", 400),
    ("[1, 2, 3]", 400),
    (r#"{"prompt": "One day", "max_tokens": -2}"#, 400),
    (r#"{"prompt": "One day", "model": "another"}"#, 404),
    (r#"{"prompt": [0, 99999]}"#, 400),
    (r#"{"prompt": "One day", "n": 3}"#, 400),
    (r#"{"prompt": "One day", "top_p": 0}"#, 400),
];

/// A client with one connection at a time, which it keeps as long as both sides allow it.
struct Client<'a> {
    server: &'a TestServer,
    connection: Option<Connection>,
}

impl Client<'_> {
    /// Carries out a plan. The texts of the choices, where it completes.
    fn carry_out(&mut self, plan: &Plan) -> Option<Vec<String>> {
        let body = plan.body.to_string();
        let bytes = post(COMPLETIONS, &body);
        match plan.manner {
            Manner::Streams | Manner::Collects => Some(self.texts(&body)),
            Manner::Dawdles => Some(self.dawdle(&body)),
            Manner::Leaves { after } => {
                let mut connection = self.fresh();
                connection.write(&bytes).unwrap();
                let _ = connection.bytes(after);
                None
            }
            Manner::BreaksOff { after } => {
                self.fresh().write(&bytes[..after]).unwrap();
                None
            }
            Manner::FallsSilent { after } => {
                let mut connection = self.fresh();
                connection.write(&bytes[..after]).unwrap();
                // The server ends it, with an answer or without.
                let said = String::from_utf8(connection.bytes(u64::MAX).unwrap()).unwrap();
                assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
                None
            }
            Manner::Errs { kind } => {
                let (body, status) = NONSENSE[kind];
                let (head, said) = self.ask(body);
                assert_eq!(head.status, status, "{body}: {said}");
                let said: Value = serde_json::from_str(&said).unwrap();
                assert!(said["error"]["message"].is_string(), "{said}");
                None
            }
        }
    }

    /// Asks until there is room, and returns the texts of the choices.
    fn texts(&mut self, body: &str) -> Vec<String> {
        loop {
            let (head, said) = self.ask(body);
            if !must_wait(&head, &said) {
                return read_texts(&head, &said);
            }
        }
    }

    /// Asks over the connection that is open, or over another where the server has closed it.
    fn ask(&mut self, body: &str) -> (Head, String) {
        let reused = self.connection.take();
        let again = |connection: &mut Connection| -> io::Result<(Head, String)> {
            connection.post(COMPLETIONS, body)?;
            connection.answer()
        };
        if let Some(mut connection) = reused
            && let Ok(answer) = again(&mut connection)
        {
            self.connection = Some(connection);
            return answer;
        }
        let mut connection = self.fresh();
        let answer = again(&mut connection).unwrap();
        self.connection = Some(connection);
        answer
    }

    /// As [`texts`](Self::texts), for a client that reads slowly.
    fn dawdle(&mut self, body: &str) -> Vec<String> {
        loop {
            let mut connection = Connection::open_narrow(self.server.address).unwrap();
            connection.post(COMPLETIONS, body).unwrap();
            let head = connection.head().unwrap();
            if head.status != 200 {
                let said = connection.body(&head).unwrap();
                assert!(must_wait(&head, &said), "{said}");
                continue;
            }
            let mut said = String::new();
            while let Some(chunk) = connection.chunk().unwrap() {
                said += &chunk;
                thread::sleep(Duration::from_millis(5));
            }
            return read_texts(&head, &said);
        }
    }

    /// A new connection, which ends the one before.
    fn fresh(&mut self) -> Connection {
        self.connection = None;
        self.server.connect()
    }
}

/// Whether the queue was full. Waits as long as the server has said.
fn must_wait(head: &Head, said: &str) -> bool {
    if head.status != 429 {
        return false;
    }
    assert!(said.contains("queue_full"), "{said}");
    let seconds: u64 = head.header("retry-after").unwrap().parse().unwrap();
    thread::sleep(Duration::from_secs(seconds));
    true
}

/// What each request that completes gets from a server that does nothing else.
fn references(plans: &[Plan]) -> Vec<Option<Vec<String>>> {
    let mut server = TestServer::start(&ALONE);
    let alone = |plan: &Plan| {
        let body = Value::to_string(&plan.body);
        let mut client = Client { server: &server, connection: None };
        plan.completes().then(|| client.texts(&body))
    };
    let references = plans.iter().map(alone).collect();
    server.shut_down();
    server.join().unwrap();
    references
}

/// All plans, by as many clients as there are connections.
fn carry_out(server: &TestServer, plans: &[Plan], references: &[Option<Vec<String>>]) {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut client = Client { server, connection: None };
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                    let Some(plan) = plans.get(number) else {
                        return;
                    };
                    let found = client.carry_out(plan);
                    assert_eq!(found, references[number], "request {number}: {plan:?}");
                }
            });
        }
    });
}

/// The threads of this process, where the system lists them.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

#[test]
fn every_request_ends_and_leaves_nothing() {
    watch(|| {
        let plans: Vec<Plan> = (0..REQUESTS).map(Plan::draw).collect();
        let references = references(&plans);
        let server = TestServer::start(&FLAGS);
        // Something of everything was done once.
        let first = &plans[0].body.to_string();
        assert_eq!(server.ask(COMPLETIONS, first).0, 200);
        wait_until("the server is at rest", || server.tasks() == 1);
        thread::sleep(Duration::from_millis(200));
        let threads_before = threads();

        let mut taken = Vec::new();
        for plans in [&plans[..], &plans[..AGAIN]] {
            carry_out(&server, plans, &references);
            wait_until("every sequence has ended", || server.metrics().is_idle());
            wait_until("every connection has ended", || server.tasks() == 1);
            wait_until("every thread has ended", || threads() <= threads_before);
            taken.push(settled(taken.last().map_or(usize::MAX, |before| before + ALLOWED)));
        }
        let metrics = server.metrics();
        for reason in ["error", "shutdown", "deadline"] {
            assert_eq!(metrics.finished(reason), 0.0, "{reason}");
        }
        assert!(metrics.finished("cancelled") > 0.0);
        assert!(metrics.get("slowburn_preemptions_total") > 0.0);
        assert!(taken[1] <= taken[0] + ALLOWED, "bytes taken after each time: {taken:?}");

        // And it answers as before.
        let mut client = Client { server: &server, connection: None };
        let completing = plans.iter().zip(&references).find(|(plan, _)| plan.completes());
        let (plan, reference) = completing.unwrap();
        assert_eq!(Some(client.texts(&plan.body.to_string())), *reference);
    });
}
