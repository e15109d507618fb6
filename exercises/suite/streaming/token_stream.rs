use std::thread;
use std::time::Duration;

use super::token_stream::{Emitted, token_stream};
use crate::support::{Case, in_time};

fn token(text: &str) -> String {
    text.to_owned()
}

#[test]
fn the_example_of_the_task() {
    let case = Case::rule("the example of the task").given("capacity", 2);
    let found = in_time(&case, || {
        let (sender, mut stream) = token_stream(2);
        let mut seen: Vec<String> =
            ["Once", " upon", " a"].map(|text| format!("{:?}", sender.emit(token(text)))).to_vec();
        seen.push(format!("{:?}", stream.next()));
        seen.push(format!("{:?}", sender.emit(token(" a"))));
        drop(sender);
        seen.extend([stream.next(), stream.next(), stream.next()].map(|next| format!("{next:?}")));
        seen
    });
    let expected = [
        "Sent",
        "Sent",
        r#"Behind(" a")"#,
        r#"Some("Once")"#,
        "Sent",
        r#"Some(" upon")"#,
        r#"Some(" a")"#,
        "None",
    ];
    case.equal(expected.map(token).to_vec(), found);
}

#[test]
fn the_reader_waits_for_tokens_that_are_still_to_come() {
    let case = Case::rule("the reader waits for the next token, and ends only with the sender")
        .given("capacity", 3)
        .given("sender", "sends a, b and c with pauses, in another thread, and is dropped");
    let found = in_time(&case, || {
        let (sender, stream) = token_stream(3);
        let writer = thread::spawn(move || {
            for text in ["a", "b", "c"] {
                thread::sleep(Duration::from_millis(20));
                sender.emit(token(text));
            }
        });
        let text: Vec<String> = stream.collect();
        writer.join().expect("your `emit` panicked, see above");
        text
    });
    case.equal(["a", "b", "c"].map(token).to_vec(), found);
}

#[test]
fn nothing_is_lost_when_the_sender_ends() {
    let case = Case::rule("what was sent can be read after the sender has ended, then it is over")
        .given("capacity", 4)
        .given("sender", "sends a, b and c, and is dropped before anything is read");
    let found = in_time(&case, || {
        let (sender, mut stream) = token_stream(4);
        for text in ["a", "b", "c"] {
            sender.emit(token(text));
        }
        drop(sender);
        let text: Vec<String> = stream.by_ref().collect();
        (text, stream.next())
    });
    case.equal((["a", "b", "c"].map(token).to_vec(), None), found);
}

#[test]
fn the_sender_never_waits() {
    for capacity in 1..5 {
        let case = Case::rule(
            "the sender never waits: `capacity` tokens are sent, and the others come back \
             (the stream is not read)",
        )
        .given("capacity", capacity)
        .given("tokens", "0 to 6");
        let found = in_time(&case, move || {
            let (sender, stream) = token_stream(capacity);
            let emitted: Vec<Emitted> = (0..7).map(|i| sender.emit(i.to_string())).collect();
            drop(stream);
            emitted
        });
        let expected = (0..7).map(|i| match i < capacity {
            true => Emitted::Sent,
            false => Emitted::Behind(i.to_string()),
        });
        case.equal(expected.collect::<Vec<_>>(), found);
    }
}

#[test]
fn a_reader_that_catches_up_makes_room() {
    let case = Case::rule("each token that is read makes room for one more")
        .given("capacity", 1)
        .given("sender and reader", "take turns, and the sender tries twice at each turn");
    let found = in_time(&case, || {
        let (sender, mut stream) = token_stream(1);
        let turns = ["a", "b", "c"].map(|text| {
            let both = (sender.emit(token(text)), sender.emit(token("too much")));
            (both, stream.next())
        });
        turns.to_vec()
    });
    let turn = |text| ((Emitted::Sent, Emitted::Behind(token("too much"))), Some(token(text)));
    case.equal(["a", "b", "c"].map(turn).to_vec(), found);
}

#[test]
fn a_sender_with_nothing_to_send_sees_that_the_reader_has_gone() {
    let case = Case::rule("is_gone tells that the stream was dropped, without sending anything")
        .given("capacity", 2)
        .given("sender", "sends nothing");
    let found = in_time(&case, || {
        let (sender, stream) = token_stream(2);
        let before = sender.is_gone();
        drop(stream);
        (before, sender.is_gone())
    });
    case.holds(found == (false, true), "false before the drop, true after it", found);
}

#[test]
fn a_reader_may_go_in_the_middle() {
    for unread in 0..3 {
        let case = Case::rule("after the drop is_gone is true, and emit says Gone, full or not")
            .given("capacity", 2)
            .given("tokens in the stream when it is dropped", unread);
        let found = in_time(&case, move || {
            let (sender, mut stream) = token_stream(2);
            sender.emit(token("read"));
            stream.next();
            for _ in 0..unread {
                sender.emit(token("unread"));
            }
            let before = sender.is_gone();
            drop(stream);
            (before, sender.is_gone(), sender.emit(token("late")))
        });
        case.equal((false, true, Emitted::Gone), found);
    }
}
