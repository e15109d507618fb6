use std::thread;
use std::time::Duration;

use super::token_stream::{Emitted, token_stream};
use crate::support::{Case, in_time};

fn token(text: &str) -> String {
    text.to_owned()
}

#[test]
fn dropping_the_stream_does_not_wait() {
    for unread in [0, 2] {
        let case = Case::rule("`drop` of the stream ends at once, wherever the sender is")
            .given("capacity", 2)
            .given("tokens in the stream when it is dropped", unread);
        in_time(&case, move || {
            let (sender, stream) = token_stream(2);
            for _ in 0..unread {
                sender.emit(token("unread"));
            }
            drop(stream);
            drop(sender);
        });
    }
}

#[test]
fn dropping_the_stream_does_not_wait_for_the_sender() {
    let case = Case::rule("`drop` of the stream ends at once, though the sender goes on sending")
        .given("capacity", 2)
        .given(
            "sender",
            "in another thread, a token every 10 ms until it sees that nobody reads",
        );
    in_time(&case, move || {
        let (sender, mut stream) = token_stream(2);
        let writer = thread::spawn(move || {
            // A minute at most, should nobody ever tell.
            for _ in 0..6000 {
                if sender.emit(token("a")) == Emitted::Gone || sender.is_gone() {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        stream.next();
        drop(stream);
        writer.join().expect("your `emit` panicked, see above");
    });
}

#[test]
fn the_example_of_the_task() {
    let case = Case::rule("the example above the function: a full stream gives the token back, and the reader gets all that was sent, then None").given("capacity", 2);
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
fn the_reader_waits_as_long_as_it_takes() {
    let case = Case::rule("the reader waits for the next token, however long it takes")
        .given("capacity", 3)
        .given("sender", "is_gone, a pause of 1.1 seconds, is_gone, a token, and it is dropped");
    let found = in_time(&case, || {
        let (sender, stream) = token_stream(3);
        let writer = thread::spawn(move || {
            let before = sender.is_gone();
            thread::sleep(Duration::from_millis(1100));
            let while_it_waits = sender.is_gone();
            sender.emit(token("a"));
            (before, while_it_waits)
        });
        let text: Vec<String> = stream.collect();
        (writer.join().expect("your code panicked, see above"), text)
    });
    case.equal(((false, false), vec![token("a")]), found);
}

#[test]
fn any_text_may_be_a_token() {
    let case = Case::rule("a token may be empty: it is sent and read like any other")
        .given("capacity", 3)
        .given("tokens", ["", "a", ""]);
    let found = in_time(&case, || {
        let (sender, stream) = token_stream(3);
        let emitted = ["", "a", ""].map(|text| sender.emit(token(text)));
        drop(sender);
        (emitted.to_vec(), stream.collect::<Vec<_>>())
    });
    case.equal((vec![Emitted::Sent; 3], ["", "a", ""].map(token).to_vec()), found);
}

#[test]
fn looking_sends_nothing() {
    let case = Case::rule("is_gone sends nothing and takes no room")
        .given("capacity", 1)
        .given("sender", "looks three times with is_gone, emits a, looks again, and is dropped");
    let found = in_time(&case, || {
        let (sender, stream) = token_stream(1);
        let looks = [sender.is_gone(), sender.is_gone(), sender.is_gone()];
        let emitted = sender.emit(token("a"));
        let last = sender.is_gone();
        drop(sender);
        (looks, emitted, last, stream.collect::<Vec<_>>())
    });
    case.equal(([false; 3], Emitted::Sent, false, vec![token("a")]), found);
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
    for (capacity, tokens) in [(1, 7), (2, 7), (3, 7), (4, 300), (100, 300)] {
        let case = Case::rule(
            "the sender never waits: `capacity` tokens are sent, and the others come back \
             (the stream is not read)",
        )
        .given("capacity", capacity)
        .given("tokens", format_args!("{tokens}, from 0 on"));
        let found = in_time(&case, move || {
            let (sender, stream) = token_stream(capacity);
            let emitted: Vec<Emitted> = (0..tokens).map(|i| sender.emit(i.to_string())).collect();
            drop(stream);
            emitted
        });
        let expected = (0..tokens).map(|i| {
            if i < capacity {
                Emitted::Sent
            } else {
                Emitted::Behind(i.to_string())
            }
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
    // The last of four comes back as `Behind`.
    for unread in 0..4 {
        let case = Case::rule("after the drop is_gone is true, and emit says Gone, full or not")
            .given("capacity", 2)
            .given("tokens sent and not read when it is dropped", unread);
        let found = in_time(&case, move || {
            let (sender, mut stream) = token_stream(2);
            sender.emit(token("read"));
            stream.next();
            for _ in 0..unread {
                sender.emit(token("unread"));
            }
            let before = sender.is_gone();
            drop(stream);
            let late = [(); 2].map(|()| (sender.is_gone(), sender.emit(token("late"))));
            (before, late)
        });
        case.equal((false, [(true, Emitted::Gone), (true, Emitted::Gone)]), found);
    }
}
