//! More connections than there may be.

use std::ffi::OsString;
use std::net::TcpStream;
use std::time::Duration;
use std::{fs, io, thread};

use slowburn_server::{Server, Settings};
use tokio::runtime::Builder;

use crate::common::http_client::Connection;
use crate::common::test_server::{TestServer, wait_until};
use crate::common::watchdog::watch;

const MODELS: &str = "/v1/models";

/// The status of an answer, and the `connection` header.
fn get(connection: &mut Connection, path: &str) -> io::Result<(u16, Option<String>, String)> {
    connection.get(path)?;
    let (head, said) = connection.answer()?;
    Ok((head.status, head.header("connection").map(str::to_owned), said))
}

/// A request that is never sent to its end.
fn unfinished(server: &TestServer) -> Connection {
    let mut connection = server.connect();
    let head = "POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
    connection.write(head.as_bytes()).unwrap();
    connection
}

#[test]
fn connections_that_ask_nothing_make_room() {
    watch(|| {
        let flags = [
            "--max-connections",
            "8",
            "--max-connections-per-client",
            "8",
        ];
        let server = TestServer::start(&flags);
        let mut idle = Vec::new();
        for number in 0..200 {
            let mut connection = server.connect();
            match number % 3 {
                0 => connection.write(b"GET /v1/mod").unwrap(),
                // Beyond the limit this may be an error, if many come at once.
                1 => _ = get(&mut connection, "/health"),
                _ => {}
            }
            idle.push(connection);
        }
        for path in ["/health", "/ready", "/metrics"] {
            assert_eq!(get(&mut server.connect(), path).unwrap().0, 200, "{path}");
        }
        wait_until("there is room", || {
            get(&mut server.connect(), MODELS).is_ok_and(|(status, ..)| status == 200)
        });
    });
}

#[test]
fn a_client_with_too_many_connections_loses_its_own() {
    watch(|| {
        let flags = [
            "--max-connections",
            "8",
            "--max-connections-per-client",
            "2",
        ];
        let server = TestServer::start(&flags);
        let mut connections: Vec<Connection> = Vec::new();
        for _ in 0..3 {
            connections.push(server.connect());
            thread::sleep(Duration::from_millis(200));
        }
        // The first was closed, and the others are as they were.
        let statuses = connections
            .iter_mut()
            .map(|connection| get(connection, MODELS).map(|(status, ..)| status).ok());
        assert_eq!(statuses.collect::<Vec<_>>(), [None, Some(200), Some(200)]);
    });
}

#[test]
fn beyond_the_limits_there_is_an_answer_and_the_metrics() {
    watch(|| {
        for (most, of_client, status) in [("2", "2", 503), ("8", "2", 429)] {
            let flags = [
                "--max-connections",
                most,
                "--max-connections-per-client",
                of_client,
                "--read-timeout",
                "300",
            ];
            let server = TestServer::start(&flags);
            // The connections that asked whether it is ready are old enough to make room.
            thread::sleep(Duration::from_millis(200));
            let unfinished = [unfinished(&server), unfinished(&server)];
            wait_until("both have begun", || {
                get(&mut server.connect(), MODELS).is_ok_and(|answer| answer.0 == status)
            });
            for path in ["/health", "/ready", "/metrics"] {
                let (status, connection, _) = get(&mut server.connect(), path).unwrap();
                assert_eq!((status, connection.as_deref()), (200, Some("close")), "{path}");
            }
            let mut beyond = server.connect();
            beyond.get(MODELS).unwrap();
            let (head, said) = beyond.answer().unwrap();
            assert_eq!(head.status, status, "{said}");
            assert_eq!(head.header("connection"), Some("close"));
            assert_eq!(head.header("retry-after"), Some("1"));
            assert!(said.contains("too_many_connections"), "{said}");
            assert_eq!(beyond.bytes(1).unwrap(), b"");

            drop(unfinished);
            wait_until("there is room again", || {
                get(&mut server.connect(), MODELS).unwrap().0 == 200
            });
        }
    });
}

#[test]
fn the_rate_limit_does_not_hide_how_the_server_is() {
    watch(|| {
        let server = TestServer::start(&["--rate-per-minute", "1", "--burst", "1"]);
        let mut connection = server.connect();
        let mut status = |path| get(&mut connection, path).unwrap().0;
        assert_eq!([status(MODELS), status(MODELS)], [200, 429]);
        for path in ["/health", "/ready", "/metrics"] {
            assert_eq!([status(path), status(path)], [200, 200], "{path}");
        }
    });
}

/// Connections that nobody has accepted yet wait, as many as the system allows.
#[test]
fn a_burst_of_connections_waits() {
    let system = fs::read_to_string("/proc/sys/net/core/somaxconn");
    let system: usize = system.ok().and_then(|most| most.trim().parse().ok()).unwrap_or(128);
    let settings = Settings::load(["test", "--port", "0"].map(OsString::from)).unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    // It listens, and accepts nothing before it is run.
    let server = runtime.block_on(Server::bind(settings)).unwrap();
    let connections: Vec<TcpStream> = (0..system.min(600))
        .map(|number| {
            let connected = TcpStream::connect_timeout(&server.address(), Duration::from_secs(5));
            connected.unwrap_or_else(|error| panic!("connection {number}: {error}"))
        })
        .collect();
    drop(connections);
}
