//! The ends of a request that are not its own: the client goes away or reads nothing, the queue or
//! the KV cache is full, time is up, the server is shut down.

use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::completions::{COMPLETIONS, begin, large, long, read_texts, texts};
use crate::common::hostile;
use crate::common::http_client::{Connection, events};
use crate::common::test_server::{TestServer, wait_until};
use crate::common::watchdog::watch;
use serde_json::{Value, json};
use slowburn::grammar::Grammar;

/// The last event of a stream that has begun.
fn last_event(connection: &mut Connection) -> String {
    let mut text = String::new();
    while let Some(chunk) = connection.chunk().unwrap() {
        text += &chunk;
    }
    events(&text).pop().unwrap()
}

#[test]
fn a_client_that_goes_away_frees_its_blocks_before_the_next_step() {
    watch(|| {
        let server = TestServer::start(&[]);
        let mut connection = server.connect();
        begin(&mut connection, &long(8));
        let during = server.metrics();
        assert_eq!(during.get("slowburn_sequences_running"), 8.0);
        assert!(during.get("slowburn_kv_blocks_used") > 0.0);

        drop(connection);
        wait_until("the sequences are cancelled", || server.metrics().finished("cancelled") == 8.0);
        // The engine answers after the step in which it heard of it.
        assert!(server.metrics().is_idle());
        assert_eq!(server.metrics().finished("length"), 0.0);
    });
}

#[test]
fn a_client_that_goes_away_from_the_queue_is_not_waited_for() {
    watch(|| {
        let server = TestServer::start(&["--max-running", "1"]);
        let mut running = server.connect();
        begin(&mut running, &long(8));
        let mut queued = server.connect();
        queued.post(COMPLETIONS, &long(1).to_string()).unwrap();
        wait_until("all of them wait but one", || {
            server.metrics().get("slowburn_sequences_waiting") == 8.0
        });
        drop((queued, running));
        wait_until("all are cancelled", || server.metrics().finished("cancelled") == 9.0);
        assert!(server.metrics().is_idle());
    });
}

#[test]
fn a_full_queue_is_429_and_the_retry_succeeds() {
    watch(|| {
        let flags = [
            "--max-running",
            "1",
            "--max-waiting",
            "2",
            "--max-sequences",
            "2",
        ];
        let server = TestServer::start(&flags);
        let request = json!({"prompt": "One day", "max_tokens": 8, "seed": 3}).to_string();
        let (_, alone) = server.ask(COMPLETIONS, &request);

        // One runs and two wait, until one of them has come to its end, which is not long.
        let mut refused = None;
        wait_until("a request is refused", || {
            let mut running: Vec<Connection> = (0..4).map(|_| server.connect()).collect();
            for connection in &mut running {
                connection.post(COMPLETIONS, &long(1).to_string()).unwrap();
            }
            let mut heads = running.into_iter().map(|mut connection| {
                let head = connection.head().unwrap();
                (head, connection)
            });
            refused = heads.find(|(head, _)| head.status == 429);
            refused.is_some()
        });
        let (head, mut connection) = refused.unwrap();
        let seconds: u64 = head.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds));
        let body: Value = serde_json::from_str(&connection.body(&head).unwrap()).unwrap();
        assert_eq!(body["error"]["code"], "queue_full");
        assert_eq!(body["error"]["type"], "overloaded_error");

        // The others have gone, and the connection is as good as new.
        wait_until("the queue is empty", || server.metrics().is_idle());
        connection.post(COMPLETIONS, &request).unwrap();
        let (head, body) = connection.answer().unwrap();
        assert_eq!(head.status, 200);
        let text = |body: &str| texts(&[serde_json::from_str::<Value>(body).unwrap()]);
        assert_eq!(text(&body), text(&alone));
        assert!(server.metrics().finished("queue_full") > 0.0);
        assert_eq!(server.metrics().finished("error"), 0.0);
    });
}

/// One runs, 100 wait, and each takes as long as the first one did.
#[test]
fn the_wait_behind_a_full_queue_is_that_of_the_sequences_in_it() {
    watch(|| {
        let flags = [
            "--max-running",
            "1",
            "--max-waiting",
            "100",
            "--max-sequences",
            "100",
        ];
        let server = TestServer::start(&flags);
        let mut request = long(1);
        request["stream"] = json!(false);
        let start = Instant::now();
        server.ask(COMPLETIONS, &request.to_string());
        let measured = start.elapsed().as_secs_f64();

        let mut first = server.connect();
        begin(&mut first, &long(100));
        let mut second = server.connect();
        second.post(COMPLETIONS, &long(100).to_string()).unwrap();
        let head = second.head().unwrap();
        assert_eq!(head.status, 429);
        let seconds: f64 = head.header("retry-after").unwrap().parse().unwrap();
        assert!(seconds > 1.0 && seconds <= 60.0, "{seconds} for 100 of {measured} s each");
        assert!(seconds <= (100.0 * measured).ceil(), "{seconds} for 100 of {measured} s each");
    });
}

#[test]
fn a_deadline_before_the_first_token_is_503() {
    watch(|| {
        let server = TestServer::start(&["--request-timeout", "0.000001"]);
        for stream in [true, false] {
            let mut request = long(1);
            request["stream"] = json!(stream);
            let mut connection = server.connect();
            connection.post(COMPLETIONS, &request.to_string()).unwrap();
            let (head, body) = connection.answer().unwrap();
            assert_eq!(head.status, 503);
            assert!(head.header("retry-after").is_some());
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["error"]["code"], "deadline_exceeded");
        }
        assert!(server.metrics().is_idle());
    });
}

#[test]
fn a_deadline_after_the_first_token_ends_the_text_as_a_length_does() {
    watch(|| {
        let server = TestServer::start(&["--request-timeout", "3"]);
        // Nobody reads it, so that it cannot end by itself.
        let mut connection = Connection::open_narrow(server.address).unwrap();
        connection.post(COMPLETIONS, &large().to_string()).unwrap();
        wait_until("its sequences run", || !server.metrics().is_idle());
        wait_until("time is up", || server.metrics().is_idle());
        let (head, body) = connection.answer().unwrap();
        assert_eq!(head.status, 200);
        let events = events(&body);
        assert_eq!(events.last().unwrap(), "[DONE]");
        let end: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
        assert_eq!(end["choices"][0]["finish_reason"], "length");
        assert!(server.metrics().finished("deadline") > 0.0);
        assert!(server.metrics().is_idle());
    });
}

/// To compile its grammar takes a part of the time of a request, and the text has what is left.
#[test]
fn a_text_has_the_time_that_its_grammar_has_left() {
    watch(|| {
        let limit = Duration::from_millis(1500);
        let server = TestServer::start(&["--request-timeout", "1.5"]);
        let hostile = hostile::grammars().into_iter();
        let is_meant = |(name, _): &(String, _)| name == "3000 required of many properties";
        let Some((_, Grammar::JsonSchema(schema))) = hostile.clone().find(is_meant) else {
            panic!("there is no such grammar");
        };
        // It is compiled anew with each description.
        let ask = |description: &str, n: u64, max_tokens: u64| {
            let mut schema = schema.json().clone();
            schema["description"] = json!(description);
            let request = json!({
                "prompt": "Once", "n": n, "max_tokens": max_tokens, "ignore_eos": true,
                "structured_outputs": {"json": schema},
            });
            let start = Instant::now();
            server.ask(COMPLETIONS, &request.to_string());
            start.elapsed()
        };
        let compiled = ask("first", 1, 1);
        // They would take several seconds.
        let took = ask("second", 48, 480);
        assert!(
            took > limit && took < limit + compiled / 2,
            "it took {took:?}, its grammar {compiled:?}"
        );
    });
}

/// A server whose KV cache holds less than the context, and how many tokens that is.
fn with_small_cache() -> (TestServer, usize) {
    let server = TestServer::start(&["--kv-cache-bytes", "600KiB"]);
    let mut connection = server.connect();
    connection.get("/server_info").unwrap();
    let info: Value = serde_json::from_str(&connection.answer().unwrap().1).unwrap();
    let room = info["max_total_num_tokens"].as_u64().unwrap();
    assert!(room < info["context_length"].as_u64().unwrap(), "{info}");
    (server, room as usize)
}

#[test]
fn a_text_without_a_limit_ends_where_the_kv_cache_is_full() {
    watch(|| {
        let (server, room) = with_small_cache();
        let messages = json!([{"role": "user", "content": "Once upon a time"}]);
        let no_limit = json!({"prompt": "Once upon a time", "max_tokens": -1});
        for (path, mut request, place, end) in [
            (COMPLETIONS, no_limit.clone(), "/choices/0/finish_reason", "length"),
            ("/generate", no_limit, "/finish_reason", "length"),
            (
                "/v1/chat/completions",
                json!({ "messages": messages }),
                "/choices/0/finish_reason",
                "length",
            ),
            ("/v1/responses", json!({"input": "Once upon a time"}), "/status", "incomplete"),
        ] {
            request["ignore_eos"] = json!(true);
            let (status, answer) = server.ask(path, &request.to_string());
            assert_eq!(status, 200, "{path}: {answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["usage"]["total_tokens"], room, "{path}");
            assert_eq!(answer.pointer(place), Some(&json!(end)), "{path}");
        }
        // A limit that was asked for is no other one.
        let request = json!({"prompt": "Once upon a time", "max_tokens": room});
        assert_eq!(server.ask(COMPLETIONS, &request.to_string()).0, 400);
    });
}

#[test]
fn a_prompt_that_fills_the_kv_cache_is_the_wrong_field_itself() {
    watch(|| {
        let (server, room) = with_small_cache();
        let text = " fox".repeat(room);
        let ids = vec![5; room];
        let fewer = &ids[1..];
        let chat = json!([{"role": "user", "content": text}]);
        for (path, request, param) in [
            (COMPLETIONS, json!({"prompt": text, "max_tokens": 9}), "prompt"),
            (COMPLETIONS, json!({"prompt": ids, "max_tokens": 1}), "prompt"),
            (COMPLETIONS, json!({"prompt": fewer, "max_tokens": 2}), "max_tokens"),
            ("/generate", json!({"prompt": text, "max_tokens": -1}), "prompt"),
            ("/generate", json!({"text": text}), "text"),
            ("/generate", json!({"input_ids": ids}), "input_ids"),
            ("/candidates", json!({"prompt": text}), "prompt"),
            ("/v1/chat/completions", json!({"messages": chat}), "messages"),
            ("/v1/responses", json!({"input": text}), "input"),
        ] {
            let (status, answer) = server.ask(path, &request.to_string());
            assert_eq!(status, 400, "{path}: {answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["error"]["param"], param, "{path}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(&format!("room for {room}")), "{path}: {message}");
        }
        // A prompt that nothing is to follow has room, and one that is a token shorter and that token.
        for (prompt, max_tokens) in [(&ids[..], 0), (fewer, 1)] {
            let request = json!({"prompt": prompt, "max_tokens": max_tokens});
            let (status, answer) = server.ask(COMPLETIONS, &request.to_string());
            assert_eq!(status, 200, "{max_tokens}: {answer}");
        }
    });
}

#[test]
fn what_runs_at_the_shutdown_is_finished() {
    watch(|| {
        let mut server = TestServer::start(&[]);
        let mut request = long(2);
        request["max_tokens"] = json!(100);
        let mut whole = request.clone();
        whole["stream"] = json!(false);
        let (_, alone) = server.ask(COMPLETIONS, &whole.to_string());
        let alone: Value = serde_json::from_str(&alone).unwrap();

        let mut connection = server.connect();
        connection.post(COMPLETIONS, &request.to_string()).unwrap();
        let head = connection.head().unwrap();
        let first = connection.chunk().unwrap().unwrap();
        server.shut_down();
        wait_until("new connections are refused", || server.refuses_connections());

        let rest = connection.body(&head).unwrap();
        assert_eq!(read_texts(&head, &(first + &rest)), texts(&[alone]));
        server.join().unwrap();
    });
}

#[test]
fn what_runs_after_the_drain_timeout_ends_with_an_error() {
    watch(|| {
        let mut server = TestServer::start(&["--drain-timeout", "0.05"]);
        let mut connection = server.connect();
        begin(&mut connection, &long(64));
        server.shut_down();
        let last: Value = serde_json::from_str(&last_event(&mut connection)).unwrap();
        assert_eq!(last["error"]["code"], "shutting_down");
        assert_eq!(last["error"]["type"], "overloaded_error");
        server.join().unwrap();
    });
}

#[test]
fn a_connection_that_is_open_and_asks_nothing_does_not_hold_up_the_shutdown() {
    watch(|| {
        let mut server = TestServer::start(&["--drain-timeout", "300"]);
        let silent = server.connect();
        let mut idle = server.connect();
        idle.get("/health").unwrap();
        assert_eq!(idle.answer().unwrap().0.status, 200);
        server.shut_down();
        server.join().unwrap();
        drop((silent, idle));
    });
}

/// What a client that sent this and no more hears at the shutdown.
fn last_answer(sent: &str) -> String {
    let mut server = TestServer::start(&["--drain-timeout", "300", "--read-timeout", "300"]);
    let mut connection = server.connect();
    connection.write(sent.as_bytes()).unwrap();
    // Until the server has read it, there is nothing that could stall.
    thread::sleep(Duration::from_millis(100));
    server.shut_down();
    let start = Instant::now();
    let said = connection.bytes(u64::MAX).unwrap();
    server.join().unwrap();
    let seconds = start.elapsed().as_secs();
    assert!(seconds < 60, "{seconds} s for {sent:?}");
    String::from_utf8(said).unwrap()
}

#[test]
fn a_request_that_does_not_come_does_not_hold_up_the_shutdown() {
    watch(|| {
        assert_eq!(last_answer("POST /v1/completions HTTP/1.1\r\nhost: local"), "");
        let head = "POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n";
        for sent in [head.to_owned(), format!("{head}{{\"prompt\": ")] {
            let said = last_answer(&sent);
            assert!(said.starts_with("HTTP/1.1 503"), "{said}");
            assert!(said.contains("shutting_down") && said.contains("connection: close"), "{said}");
        }
    });
}

#[test]
fn a_client_that_reads_nothing_loses_its_connection() {
    watch(|| {
        let server = TestServer::start(&["--write-timeout", "0.3"]);
        let mut connection = Connection::open_narrow(server.address).unwrap();
        begin(&mut connection, &large());

        wait_until("its connection is lost", || server.metrics().finished("cancelled") == 64.0);
        wait_until("its blocks are free", || server.metrics().is_idle());

        // The system would go on delivering what it had taken in, a small buffer at a time, which
        // can take minutes. A client that says something hears at once that the connection is over.
        connection.get("/health").unwrap();
        let end = loop {
            match connection.bytes(512) {
                Ok(bytes) if bytes.is_empty() => break None,
                Ok(bytes) => assert!(!String::from_utf8_lossy(&bytes).contains("[DONE]")),
                Err(error) => break Some(error.kind()),
            }
        };
        assert!(matches!(end, None | Some(ErrorKind::ConnectionReset)), "{end:?}");
    });
}

#[test]
fn a_slow_reader_gets_all_of_its_text_and_pauses_no_one_else() {
    watch(|| {
        let server = TestServer::start(&[]);
        let request = large();
        let mut slow = Connection::open_narrow(server.address).unwrap();
        begin(&mut slow, &request);
        wait_until("its sequences are paused", || {
            server.metrics().get("slowburn_sequences_paused") > 0.0
        });
        let (status, _) = server.ask(COMPLETIONS, r#"{"prompt": "One day"}"#);
        assert_eq!(status, 200);
        assert!(server.metrics().get("slowburn_sequences_paused") > 0.0);
        assert_eq!(last_event(&mut slow), "[DONE]");
        assert!(server.metrics().is_idle());
    });
}
