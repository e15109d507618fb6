use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use super::gone_client::{Body, Job, respond};
use crate::support::{Case, in_time};

/// The end of the model thread.
struct Model {
    tokens: Sender<String>,
    cancelled: Arc<AtomicBool>,
}

impl Model {
    fn generate(&self, token: &str) {
        let _ = self.tokens.send(token.to_owned());
    }

    fn sees_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// The response to a request, and the model that writes its tokens.
fn response() -> (Model, Body) {
    let (tokens, receiver) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let job = Job::new(receiver, cancelled.clone());
    (Model { tokens, cancelled }, respond(job))
}

fn events(tokens: &[&str]) -> Vec<String> {
    tokens.iter().map(|token| format!("data: {token}\n\n")).collect()
}

#[test]
fn a_client_that_reads_to_the_end() {
    let case = Case::rule("an event for each token, in order, and [DONE] once, at the end")
        .given("tokens", ["Once", " upon", "", " a"]);
    let found = in_time(&case, || {
        let (model, body) = response();
        for token in ["Once", " upon", "", " a"] {
            model.generate(token);
        }
        drop(model);
        body.collect::<Vec<String>>()
    });
    case.equal(events(&["Once", " upon", "", " a", "[DONE]"]), found);
}

#[test]
fn a_text_without_tokens_ends_too() {
    let case = Case::rule("[DONE] comes at the end, even if no token came").given("tokens", 0);
    let found = in_time(&case, || {
        let (model, body) = response();
        drop(model);
        body.collect::<Vec<String>>()
    });
    case.equal(events(&["[DONE]"]), found);
}

#[test]
fn a_client_that_goes_in_the_middle() {
    for read in 1..4 {
        let case = Case::rule("when the body is dropped, the job is cancelled")
            .given("tokens so far", 4)
            .given("events that were read", read);
        let found = in_time(&case, move || {
            let (model, mut body) = response();
            for token in ["a", "b", "c", "d"] {
                model.generate(token);
            }
            for _ in 0..read {
                body.next();
            }
            let before = model.sees_cancelled();
            drop(body);
            ("cancelled before and after the drop", before, model.sees_cancelled())
        });
        case.equal(("cancelled before and after the drop", false, true), found);
    }
}

#[test]
fn a_client_that_reads_nothing_of_it() {
    let case = Case::rule("when the body is dropped, the job is cancelled")
        .given("tokens so far", 100)
        .given("events that were read", 0);
    let found = in_time(&case, || {
        let (model, body) = response();
        for _ in 0..100 {
            model.generate("a");
        }
        drop(body);
        model.sees_cancelled()
    });
    case.equal(("cancelled", true), ("cancelled", found));
}

#[test]
fn a_client_that_goes_while_its_request_waits() {
    let case = Case::rule("when the body is dropped, the job is cancelled, without any token")
        .given("tokens so far", "none: the request waits in the queue");
    let found = in_time(&case, || {
        let (model, body) = response();
        drop(body);
        model.sees_cancelled()
    });
    case.equal(("cancelled", true), ("cancelled", found));
}

#[test]
fn a_client_that_goes_between_two_tokens() {
    let case = Case::rule("when the body is dropped, the job is cancelled, without another token")
        .given("tokens so far", "2, and both were read");
    let found = in_time(&case, || {
        let (model, mut body) = response();
        model.generate("a");
        model.generate("b");
        let read = [body.next(), body.next()];
        drop(body);
        (read, model.sees_cancelled())
    });
    let read = [
        Some("data: a\n\n".to_owned()),
        Some("data: b\n\n".to_owned()),
    ];
    case.equal((read, true), found);
}

#[test]
fn the_handler_returns_at_once() {
    let case = Case::rule("the handler returns before the first token is there");
    in_time(&case, response);
}

#[test]
fn events_come_as_early_as_tokens() {
    let case = Case::rule("each event can be read as soon as its token is there")
        .given("model", "generates the next token when the event of the last one was read");
    let found = in_time(&case, || {
        let (model, mut body) = response();
        ["a", "b", "c"].map(|token| {
            model.generate(token);
            body.next()
        })
    });
    let expected = events(&["a", "b", "c"]).into_iter().map(Some).collect::<Vec<_>>();
    case.equal(expected, found.to_vec());
}

#[test]
fn the_body_waits_for_the_next_token() {
    let case = Case::rule("the body waits for the next token, and ends only with the job")
        .given("model", "generates a, b and c with pauses, in another thread");
    let found = in_time(&case, || {
        let (model, body) = response();
        let writer = thread::spawn(move || {
            for token in ["a", "b", "c"] {
                thread::sleep(Duration::from_millis(150));
                model.generate(token);
            }
        });
        let found: Vec<String> = body.collect();
        writer.join().expect("the thread of the model");
        found
    });
    case.equal(events(&["a", "b", "c", "[DONE]"]), found);
}

#[test]
fn a_body_that_is_read_is_not_cancelled() {
    let case = Case::rule("while the body is there, the job is not cancelled")
        .given("tokens", "3, each of them read");
    let found = in_time(&case, || {
        let (model, mut body) = response();
        let looks = [(); 3].map(|()| {
            model.generate("a");
            body.next();
            model.sees_cancelled()
        });
        drop(body);
        looks
    });
    case.equal([false; 3], found);
}

#[test]
fn nothing_comes_after_done() {
    let case = Case::rule("[DONE] comes once, and nothing comes after it").given("tokens", ["a"]);
    let found = in_time(&case, || {
        let (model, mut body) = response();
        model.generate("a");
        drop(model);
        [(); 5].map(|()| body.next()).to_vec()
    });
    let mut expected: Vec<_> = events(&["a", "[DONE]"]).into_iter().map(Some).collect();
    expected.resize(5, None);
    case.equal(expected, found);
}

#[test]
fn a_text_may_be_long() {
    let case = Case::rule("every token has its event").given("tokens", "1,000, from 0 on");
    let found = in_time(&case, || {
        let (model, body) = response();
        for i in 0..1000 {
            model.generate(&i.to_string());
        }
        drop(model);
        body.collect::<Vec<String>>()
    });
    let mut expected: Vec<String> = (0..1000).map(|i| format!("data: {i}\n\n")).collect();
    expected.extend(events(&["[DONE]"]));
    case.equal(expected, found);
}
