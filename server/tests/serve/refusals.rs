//! Answers that are there before the request is: the connection goes on, or its end is announced.

use std::thread;
use std::time::Duration;

use crate::common::http_client::Connection;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;

/// A request that is refused for what its head says.
struct Refused {
    status: u16,
    flags: &'static [&'static str],
    head: &'static str,
}

const REFUSED: [Refused; 9] = [
    Refused {
        status: 401,
        flags: &["--api-key", "long-enough"],
        head: "POST /v1/completions",
    },
    Refused { status: 404, flags: &[], head: "POST /v1/nope" },
    Refused { status: 405, flags: &[], head: "POST /v1/models" },
    Refused {
        status: 400,
        flags: &[],
        head: "POST /v1/completions HTTP/1.1\r\nhost: two",
    },
    Refused { status: 403, flags: &[], head: "POST /v1/completions" },
    Refused {
        status: 413,
        flags: &["--body-limit", "1KiB"],
        head: "POST /v1/completions",
    },
    Refused { status: 415, flags: &[], head: "POST /generate" },
    Refused { status: 415, flags: &[], head: "POST /tokenize" },
    Refused {
        status: 429,
        flags: &["--rate-per-minute", "1", "--burst", "1"],
        head: "POST /v1/completions",
    },
];

impl Refused {
    fn server(&self) -> TestServer {
        let server = TestServer::start(self.flags);
        if self.status == 429 {
            server.ask("/v1/completions", r#"{"prompt": "One day", "max_tokens": 1}"#);
        }
        server
    }

    /// The head of a request with a body of this length, which is in no way the one expected.
    fn head(&self, length: u64) -> String {
        let host = if self.status == 403 {
            "example.com"
        } else {
            "localhost"
        };
        let kind = match self.head {
            "POST /generate" => "text/plain",
            "POST /tokenize" => "application/json\r\ncontent-encoding: gzip",
            _ => "application/json",
        };
        let mut head = self.head.to_owned();
        if !head.contains("HTTP/1.1") {
            head += " HTTP/1.1";
        }
        format!("{head}\r\nhost: {host}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n")
    }
}

#[test]
fn the_next_request_can_follow_a_refusal_that_came_before_the_body() {
    watch(|| {
        for refused in REFUSED {
            let server = refused.server();
            let mut connection = server.connect();
            for length in [0, 3, 2000, 200_000] {
                if refused.status == 413 && length < 1024 {
                    continue;
                }
                connection.write(refused.head(length).as_bytes()).unwrap();
                connection.write(b"\r\n").unwrap();
                // The server has the head before the body.
                thread::sleep(Duration::from_millis(5));
                connection.write(&vec![b'x'; length as usize]).unwrap();
                let (head, said) = connection.answer().unwrap();
                assert_eq!(head.status, refused.status, "{said}");
                assert_eq!(head.header("connection"), None, "{said}");
            }
        }
    });
}

#[test]
fn a_refusal_is_read_by_whoever_sends_far_too_much() {
    watch(|| {
        for refused in REFUSED {
            let server = refused.server();
            let mut connection = server.connect();
            let length = 20 << 20;
            connection.write(refused.head(length).as_bytes()).unwrap();
            connection.write(b"\r\n").unwrap();
            for _ in 0..length >> 16 {
                connection.write(&[b'x'; 1 << 16]).unwrap();
            }
            closes(&mut connection, refused.status);
        }
    });
}

#[test]
fn a_body_that_would_be_far_too_large_is_refused_before_it_comes() {
    watch(|| {
        let server = TestServer::start(&["--read-timeout", "200"]);
        let mut connection = server.connect();
        let head = "POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n{";
        connection.write(head.as_bytes()).unwrap();
        closes(&mut connection, 413);
    });
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    watch(|| {
        let server = TestServer::start(&["--read-timeout", "200"]);
        let mut connection = server.connect();
        let head = "POST /v1/nope HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
        connection.write(head.as_bytes()).unwrap();
        closes(&mut connection, 404);
    });
}

#[test]
fn a_body_that_nobody_wants_is_not_asked_for() {
    watch(|| {
        for refused in REFUSED {
            let server = refused.server();
            let mut connection = server.connect();
            let head = refused.head(2000) + "expect: 100-continue\r\n\r\n";
            connection.write(head.as_bytes()).unwrap();
            closes(&mut connection, refused.status);
        }
        // And one that is wanted is.
        let server = TestServer::start(&[]);
        let mut connection = server.connect();
        let body = r#"{"prompt": "One day", "max_tokens": 1}"#;
        let length = body.len();
        let head = format!(
            "POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        );
        connection.write(head.as_bytes()).unwrap();
        assert_eq!(connection.head().unwrap().status, 100);
        connection.write(body.as_bytes()).unwrap();
        assert_eq!(connection.answer().unwrap().0.status, 200);
    });
}

#[test]
fn a_host_is_needed_and_only_one() {
    watch(|| {
        let server = TestServer::start(&["--api-key", "long-enough"]);
        for hosts in [
            "",
            "host: a\r\nhost: a\r\n",
            "host: \u{ff}\r\n",
            "host: a b\r\n",
        ] {
            let mut connection = server.connect();
            connection.write(format!("GET /health HTTP/1.1\r\n{hosts}\r\n").as_bytes()).unwrap();
            let (head, said) = connection.answer().unwrap();
            assert_eq!(head.status, 400, "{hosts:?}");
            assert!(said.contains("invalid_host"), "{said}");
        }
        let mut connection = server.connect();
        connection.write(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!(connection.answer().unwrap().0.status, 200);
    });
}

/// Reads an answer with this status, which is the last of its connection, and says so.
fn closes(connection: &mut Connection, status: u16) {
    let (head, said) = connection.answer().unwrap();
    assert_eq!(head.status, status, "{said}");
    assert_eq!(head.header("connection"), Some("close"), "{said}");
    assert_eq!(connection.bytes(u64::MAX).unwrap(), b"");
}
