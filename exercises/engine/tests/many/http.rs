//! Several texts over sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use your_engine::Parts;
use your_engine::parts::{Queue, Refusal, Slots};
use your_engine::served::{self, Reply, body, of_events};
use your_engine::server::{Server, Settings, Stopped};
use your_engine::several;
use your_engine::verdict::{Expected, of_served};

use crate::ANSWERS;
use crate::support::{ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right};

/// What comes of the requests: what broke, what differs, or else the first call that does.
fn said(parts: &Parts) -> String {
    let found = match served::ask(&ENGINE, parts, LIMIT) {
        Ok(found) => found,
        Err(Stopped::Broken(broken)) => return broken.to_string(),
        Err(Stopped::Other(error)) => return error,
    };
    match (of_served(&found, &Expected::several(&ENGINE.1)), parts.noticed.odd()) {
        (Some(wrong), _) => wrong,
        (None, Some(odd)) => odd.to_string(),
        (None, None) => SAME.to_owned(),
    }
}

fn server(parts: Parts, settings: Settings) -> Server {
    let mut server = Server::start(ENGINE.clone(), parts, "127.0.0.1:0", settings).unwrap();
    server.compute();
    server
}

/// The status and the body of an answer to these bytes.
fn sent(address: SocketAddr, bytes: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

fn posted(address: SocketAddr, body: &str) -> (u16, String) {
    let length = body.len();
    let head = format!("POST /v1/completions HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
    sent(address, &(head + body))
}

#[test]
fn requests_are_answered_as_the_queue_says_and_texts_are_those_of_the_crate() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
    let both = ANSWERS.iter().filter(|a| ["full_queue", "sse_encode"].contains(&a.part));
    assert_each_fits(both, said);
}

#[test]
fn two_texts_at_once_are_those_that_the_crate_writes_alone() {
    let server = server(right(ANSWERS), Settings::default());
    let expected = Expected::several(&ENGINE.1);
    // Both are there before either is read.
    let replies: Vec<Reply> = several::arrivals()
        .iter()
        .take(2)
        .map(|arrival| Reply::to(server.address, &body(&arrival.request, 1), LIMIT).unwrap())
        .collect();
    for (reply, expected) in replies.into_iter().zip(&expected) {
        assert_eq!(reply.answered.status, 200);
        assert_eq!(of_events(&reply.rest().unwrap()).unwrap(), expected.streamed);
    }
}

#[test]
fn a_request_may_have_several_texts_and_they_may_come_at_once() {
    let server = server(Parts::of_the_book(), Settings::default());
    let (status, answer) = posted(
        server.address,
        r#"{"prompt": "Once upon a time", "seed": 42, "n": 2, "max_tokens": 5, "stop": "brown frog"}"#,
    );
    assert_eq!(status, 200, "{answer}");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["choices"][0]["text"], ", there was a little");
    assert_eq!(answer["choices"][1]["index"], 1);
    assert_ne!(answer["choices"][1]["text"], answer["choices"][0]["text"]);
    assert_eq!(answer["usage"]["completion_tokens"], 10);
    let (_, answer) = posted(
        server.address,
        r#"{"prompt": "Once upon a time", "max_tokens": 50, "stop": ["little brown"]}"#,
    );
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["choices"][0]["text"], ", there was a ");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}

#[test]
fn what_is_no_request_is_refused_and_the_server_goes_on() {
    let server = server(Parts::of_the_book(), Settings::default());
    for (bytes, status, why) in [
        ("GET / HTTP/1.1\r\n\r\n", 404, "/v1/completions"),
        ("GET /v1/completions HTTP/1.1\r\n\r\n", 405, "POST"),
        ("nothing\r\n\r\n", 400, "HTTP/1.1"),
        (
            "POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            411,
            "Length",
        ),
        ("POST /v1/completions HTTP/1.1\r\ncontent-length: 70000\r\n\r\n", 413, "65536"),
    ] {
        let (found, body) = sent(server.address, bytes);
        assert!(found == status && body.contains(why), "{bytes:?}: {found} {body}");
    }
    let long = format!("GET / HTTP/1.1\r\nx: {}", "x".repeat(16 << 10));
    assert_eq!(sent(server.address, &long).0, 431);
    for (body, why) in [
        ("{", "JSON"),
        ("{}", "prompt"),
        (r#"{"prompt": "x", "max_tokens": 0}"#, "max_tokens"),
        (r#"{"prompt": "x", "max_tokens": 600}"#, "512"),
        (r#"{"prompt": "x", "max_tokens": 18446744073709551615}"#, "512"),
        (r#"{"prompt": "x", "temperature": -1}"#, "temperature"),
        (r#"{"prompt": "x", "top_p": 0}"#, "top_p"),
        (r#"{"prompt": "x", "n": 0}"#, "n must be from 1"),
        (r#"{"prompt": "x", "n": 17}"#, "16 at most"),
        (r#"{"prompt": "x", "stop": ""}"#, "stop"),
    ] {
        let (status, answer) = posted(server.address, body);
        assert!(status == 400 && answer.contains(why), "{body}: {status} {answer}");
    }
    assert_eq!(posted(server.address, r#"{"prompt": "x", "max_tokens": 2}"#).0, 200);
}

#[test]
fn a_client_that_goes_frees_its_slots_and_its_blocks() {
    // A text needs all blocks, and does not end soon.
    let room = your_engine::batch::Room { token_budget: 8, max_running: 4, blocks: 100 };
    let server = server(Parts::of_the_book(), Settings { room, slots: 1 });
    let long = several::request("Once upon a time", 1, 390);
    let reply = Reply::to(server.address, &body(&long, 1), LIMIT).unwrap();
    assert_eq!(reply.answered.status, 200);
    assert_eq!(server.free(), 0);
    drop(reply);
    let begun = Instant::now();
    while server.free() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "its slot is never free");
        std::thread::sleep(Duration::from_millis(5));
    }
    let next = Reply::to(server.address, &body(&several::request("x", 1, 395), 1), LIMIT).unwrap();
    assert_eq!(next.answered.status, 200);
}

#[test]
fn a_wrong_answer_is_seen() {
    let wrong = [
        (
            "full_queue",
            "wrong_part_taken",
            "Request 4, for 4 of 5 texts, was answered with 200 instead of 429, Retry-After 2.",
        ),
        (
            "full_queue",
            "wrong_too_large_is_full",
            "Request 5, for 6 of 5 texts, was answered with 429, Retry-After 4 instead of 400.",
        ),
        (
            "full_queue",
            "wrong_all_it_needs",
            "Request 4, for 4 of 5 texts, was answered with 429, Retry-After 4 instead of 429, Retry-After 2.",
        ),
        (
            "full_queue",
            "wrong_strict",
            "Request 6, for 2 of 5 texts, was answered with 429, Retry-After 1 instead of 200.",
        ),
        (
            "full_queue",
            "wrong_nothing_freed",
            "All texts have ended, and 4 of 5 slots are free.",
        ),
        ("full_queue", "wrong_freed_twice", "`full_queue` panicked at "),
        (
            "sse_encode",
            "wrong_no_space",
            "The events of text 1 are wrong: a line of an event is \"data:{",
        ),
        (
            "sse_encode",
            "wrong_no_empty_line",
            "The events of text 1 are wrong: a line of an event is \"\".",
        ),
        (
            "sse_encode",
            "wrong_one_field",
            "The events of text 1 are wrong: a line of an event is \"  ",
        ),
        (
            "sse_encode",
            "wrong_crlf",
            "The events of text 1 are wrong: the data of an event is no JSON, ",
        ),
        ("sse_encode", "wrong_trimmed", "call "),
    ];
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn a_queue_that_is_not_written_yet_is_named() {
    let mut parts = right(ANSWERS);
    parts.queue = |_| todo!();
    let said = said(&parts);
    assert!(said.starts_with("`full_queue` panicked at "), "{said}");
    assert!(said.ends_with(": not yet implemented"), "{said}");
}

fn never() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// A queue that takes nobody, and never says how many slots are free.
struct Silent;

impl Queue for Silent {
    fn free(&self) -> usize {
        never()
    }

    fn admit(&self, _: usize, _: Duration) -> Result<Box<dyn Slots>, Refusal> {
        Err(Refusal::TooLarge)
    }
}

/// The part that does not return.
fn stuck(parts: &Parts) -> &'static str {
    // Longer than a busy machine keeps a part waiting.
    let limit = Duration::from_secs(3);
    let broken = match served::ask(&ENGINE, parts, limit) {
        Err(Stopped::Broken(broken)) => broken,
        other => panic!("{other:?}"),
    };
    assert!(broken.did.starts_with("has not returned for "), "{broken}");
    broken.part
}

#[test]
fn a_part_that_does_not_return_is_named_also_where_a_connection_asks_it() {
    let mut parts = right(ANSWERS);
    parts.sse_event = |_, _| never();
    assert_eq!(stuck(&parts), "sse_encode");
    parts = right(ANSWERS);
    parts.queue = |_| Box::new(Silent);
    assert_eq!(stuck(&parts), "full_queue");
}

#[test]
fn a_part_that_breaks_is_named_and_its_client_told() {
    let mut parts = right(ANSWERS);
    parts.online_softmax = |_, _| todo!();
    let said = said(&parts);
    assert!(said.starts_with("`online_softmax` panicked at "), "{said}");
    let server = server(parts, Settings::default());
    let reply = Reply::to(server.address, &body(&several::request("x", 1, 9), 1), LIMIT).unwrap();
    let rest = reply.rest().unwrap();
    assert!(rest.starts_with("event: error\ndata: {\"error\":"), "{rest}");
}
