//! A network in which things go wrong: the promises of the server hold behind it too.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::completions::{COMPLETIONS, begin, large, read_texts};
use crate::common::faulty_proxy::{Fault, FaultyProxy};
use crate::common::http_client::{Connection, post};
use crate::common::test_server::{TestServer, wait_until};
use crate::common::watchdog::watch;

/// A text that is short, and the same each time.
fn short() -> String {
    json!({"prompt": "Once upon a time", "max_tokens": 12, "seed": 7, "stream": true}).to_string()
}

/// The text of a stream, without what differs from request to request.
fn text(connection: &mut Connection) -> Vec<String> {
    connection.post(COMPLETIONS, &short()).unwrap();
    let (head, body) = connection.answer().unwrap();
    read_texts(&head, &body)
}

#[test]
fn a_slow_network_changes_no_text() {
    watch(|| {
        let server = TestServer::start(&[]);
        let near = text(&mut server.connect());
        let proxy = FaultyProxy::start("127.0.0.1:0", server.address).unwrap();
        proxy.set(Some(Fault::Delay(Duration::from_millis(40))));
        let start = Instant::now();
        let mut far = Connection::open(proxy.address).unwrap();
        assert_eq!(text(&mut far), near);
        // At least one way there and one back.
        assert!(start.elapsed() >= Duration::from_millis(80));
        // On the connection that is kept, too.
        assert_eq!(text(&mut far), near);
        assert!(server.metrics().is_idle());
    });
}

#[test]
fn a_router_that_dies_cancels_what_its_clients_wanted_and_one_in_its_place_works_at_once() {
    watch(|| {
        let server = TestServer::start(&[]);
        let near = text(&mut server.connect());
        let proxy = FaultyProxy::start("127.0.0.1:0", server.address).unwrap();
        let address = proxy.address;
        let mut client = Connection::open(address).unwrap();
        begin(&mut client, &large());
        proxy.kill();
        wait_until("all is cancelled", || server.metrics().finished("cancelled") == 64.0);
        wait_until("no memory is held", || server.metrics().is_idle());
        // The client sees an end without [DONE]: it cannot take this for the whole text.
        let mut rest = String::new();
        while let Ok(Some(chunk)) = client.chunk() {
            rest += &chunk;
        }
        assert!(!rest.contains("[DONE]"), "{rest}");

        let again = FaultyProxy::start(&address.to_string(), server.address).unwrap();
        assert_eq!(text(&mut Connection::open(again.address).unwrap()), near);
    });
}

#[test]
fn a_partition_frees_the_memory_after_the_write_timeout() {
    watch(|| {
        let server = TestServer::start(&["--write-timeout", "1"]);
        let proxy = FaultyProxy::start("127.0.0.1:0", server.address).unwrap();
        let mut client = Connection::open(proxy.address).unwrap();
        begin(&mut client, &large());
        // Half open: the server is never told that its client is unreachable.
        proxy.set(Some(Fault::Partition));
        // Others are served as if nothing were wrong.
        text(&mut server.connect());
        wait_until("all is cancelled", || server.metrics().finished("cancelled") == 64.0);
        wait_until("no memory is held", || server.metrics().is_idle());
    });
}

#[test]
fn a_request_that_is_lost_on_its_way_is_given_up_after_the_read_timeout() {
    watch(|| {
        let server = TestServer::start(&["--read-timeout", "1"]);
        let proxy = FaultyProxy::start("127.0.0.1:0", server.address).unwrap();
        let mut client = Connection::open(proxy.address).unwrap();
        let request = post(COMPLETIONS, &short());
        client.write(&request[..request.len() - 10]).unwrap();
        // The rest of the body never comes, and the answer comes back all the same.
        let (head, _) = client.answer().unwrap();
        assert_eq!(head.status, 408);
        assert!(server.metrics().is_idle());
        assert_eq!(server.metrics().finished("length"), 0.0);
    });
}
