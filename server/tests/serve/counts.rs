//! What `/metrics` counts, and when.

use crate::common::completions::COMPLETIONS;
use std::io;
use std::sync::{Arc, Mutex};

use crate::common::http_client::{Connection, post};
use crate::common::test_server::{Metrics, TestServer, wait_until};
use crate::common::watchdog::watch;
use serde_json::{Value, json};

/// The counted tokens: of prompts, of those the cached ones, and of texts.
fn tokens(metrics: &Metrics) -> [f64; 3] {
    ["prompt_tokens", "prompt_tokens_cached", "generation_tokens"]
        .map(|name| metrics.get(&format!("slowburn_{name}_total")))
}

#[test]
fn the_tokens_of_a_stream_are_counted_before_its_end_and_stay_if_it_is_cancelled() {
    watch(|| {
        let server = TestServer::start(&[]);
        let (_, alone) =
            server.ask(COMPLETIONS, r#"{"prompt": "Once upon a time", "max_tokens": 1}"#);
        let alone: Value = serde_json::from_str(&alone).unwrap();
        let before = alone["usage"]["prompt_tokens"].as_f64().unwrap();
        // So much about each token that the buffers of the system do not hold it: it cannot end.
        let request = json!({
            "prompt": "Once upon a time", "n": 64, "max_tokens": 500, "ignore_eos": true,
            "logprobs": 20, "stream": true,
        });
        let mut connection = Connection::open_narrow(server.address).unwrap();
        connection.post(COMPLETIONS, &request.to_string()).unwrap();
        assert_eq!(connection.head().unwrap().status, 200);
        let mut read = 0.0;
        while read < 300.0 {
            connection.chunk().unwrap();
            read += 1.0;
        }
        let during = server.metrics();
        assert_eq!(during.finished("length"), 1.0, "the one before");
        let [prompt, _, generated] = tokens(&during);
        assert!(generated >= read, "{generated} are counted, and {read} have come");
        assert_eq!(prompt, before + 64.0 * before);

        drop(connection);
        wait_until("it is cancelled", || server.metrics().finished("cancelled") == 64.0);
        assert!(tokens(&server.metrics())[2] >= generated);
    });
}

#[test]
fn the_counts_of_requests_that_end_are_those_of_their_usage() {
    watch(|| {
        let server = TestServer::start(&[]);
        let prompt = "Once upon a time there was a fox who lived under the hill. ".repeat(4);
        let mut expected = [0.0; 3];
        // Of a prompt that is only scored there is no token. A stop string holds back some.
        for fields in [
            json!({"max_tokens": 9}),
            json!({"max_tokens": 9}),
            json!({"max_tokens": 0, "echo": true, "logprobs": 1}),
            json!({"max_tokens": 400, "seed": 42, "stop": "."}),
        ] {
            for stream in [false, true] {
                let mut request = fields.clone();
                request["prompt"] = json!(prompt);
                request["stream"] = json!(stream);
                request["stream_options"] = json!({"include_usage": true});
                let (status, body) = server.ask(COMPLETIONS, &request.to_string());
                assert_eq!(status, 200, "{body}");
                let usage = body.rsplit("\"usage\":").next().unwrap();
                let usage = usage.split_inclusive("}}").next().unwrap();
                let usage: Value = serde_json::from_str(usage).unwrap();
                let cached = &usage["prompt_tokens_details"]["cached_tokens"];
                let counts = [&usage["prompt_tokens"], cached, &usage["completion_tokens"]];
                for (sum, count) in expected.iter_mut().zip(counts) {
                    *sum += count.as_f64().unwrap();
                }
                assert_eq!(tokens(&server.metrics()), expected, "{request}");
            }
        }
        assert!(expected.iter().all(|&sum| sum > 0.0), "{expected:?}");
    });
}

#[test]
fn draft_tokens_are_in_the_usage_and_the_metrics_and_change_no_text() {
    watch(|| {
        let plain = TestServer::start(&[]);
        // Behind its end, the most likely text repeats itself.
        let prompt = "Once upon a time";
        let request = |stop: &str| {
            let request = json!({
                "prompt": prompt, "max_tokens": 400, "temperature": 0, "ignore_eos": true,
                "stop": [stop],
            });
            request.to_string()
        };
        let answer = |server: &TestServer, stop: &str| -> Value {
            let (status, body) = server.ask(COMPLETIONS, &request(stop));
            assert_eq!(status, 200, "{body}");
            serde_json::from_str(&body).unwrap()
        };
        for flags in [["--speculate", "lookup"], ["--speculate", "draft"]] {
            let server = TestServer::start(&flags);
            let mut sums = [0.0; 2];
            for stop in ["never", "."] {
                let (found, expected) = (answer(&server, stop), answer(&plain, stop));
                assert_eq!(found["choices"], expected["choices"], "{flags:?}");
                assert_eq!(expected["usage"].get("completion_tokens_details"), None);
                let usage = &found["usage"];
                let counts = ["accepted", "rejected"].map(|kind| {
                    let details = &usage["completion_tokens_details"];
                    details[format!("{kind}_prediction_tokens")].as_f64().unwrap_or(0.0)
                });
                assert!(counts[0] < usage["completion_tokens"].as_f64().unwrap(), "{usage}");
                sums[0] += counts[0];
                sums[1] += counts[0] + counts[1];
            }
            let metrics = server.metrics();
            let [accepted, drafted] = ["draft_tokens_accepted", "draft_tokens"]
                .map(|name| metrics.get(&format!("slowburn_{name}_total")));
            assert!(sums[0] > 0.0, "{flags:?}");
            // The engine has also accepted what a stop string cut off.
            assert!(accepted >= sums[0] && drafted == sums[1], "{accepted} {drafted} {sums:?}");
        }
    });
}

/// What all servers of this process write to their log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn start() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_target(false);
        subscriber.with_writer(move || writer.clone()).init();
        log
    }

    fn lines_with(&self, part: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many requests for completions were answered with this status.
fn answered(server: &TestServer, status: u16) -> f64 {
    let labels = format!("method=\"POST\",route=\"{COMPLETIONS}\",status=\"{status}\"");
    server.metrics().get(&format!("slowburn_http_requests_total{{{labels}}}"))
}

#[test]
fn a_request_whose_client_goes_before_its_answer_is_counted_and_logged() {
    watch(|| {
        let log = Log::start();
        let server = TestServer::start(&["--max-running", "1"]);
        let long = json!({
            "prompt": "Once upon a time", "n": 64, "max_tokens": 500, "ignore_eos": true, "stream": true,
        });
        let mut running = Connection::open_narrow(server.address).unwrap();
        running.post(COMPLETIONS, &long.to_string()).unwrap();
        assert_eq!(running.head().unwrap().status, 200);
        let mut waiting = server.connect();
        let request = post(COMPLETIONS, r#"{"prompt": "One day"}"#);
        let request = String::from_utf8(request).unwrap();
        let named = request.replacen("\r\n", "\r\nx-request-id: goes-early\r\n", 1);
        waiting.write(named.as_bytes()).unwrap();
        wait_until("it waits", || server.metrics().get("slowburn_sequences_waiting") == 64.0);
        assert_eq!(answered(&server, 499), 0.0);
        assert_eq!(log.lines_with("goes-early"), [""; 0]);
        drop(waiting);
        wait_until("it is counted", || answered(&server, 499) == 1.0);
        wait_until("it is logged", || log.lines_with("goes-early").len() == 1);
        let line = log.lines_with("goes-early").remove(0);
        for part in [
            "method=\"POST\"",
            "route=\"/v1/completions\"",
            "status=499",
            "answered ms=",
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert_eq!(server.metrics().finished("cancelled"), 1.0);
        // One whose answer had begun has the status that it began with.
        drop(running);
        wait_until("all are cancelled", || server.metrics().finished("cancelled") == 65.0);
        assert_eq!((answered(&server, 499), answered(&server, 200)), (1.0, 1.0));
    });
}

#[test]
fn the_tokens_of_embedded_texts_are_tokens_of_prompts() {
    watch(|| {
        let server = TestServer::start(&[]);
        let texts = [" fox".repeat(400), "One day".to_owned()];
        let (status, body) = server.ask("/v1/embeddings", &json!({ "input": texts }).to_string());
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        let expected = answer["usage"]["prompt_tokens"].as_f64().unwrap();
        assert!(expected > 400.0);
        assert_eq!(tokens(&server.metrics()), [expected, 0.0, 0.0]);
    });
}
