use std::sync::mpsc::{Receiver, sync_channel};

use super::handler::{Event, Item, Model, Next, OnEvent, OutStream, first_lines};
use crate::support::{Case, Random, in_time};

/// A model that writes nothing by itself: a test says what happens.
#[derive(Default)]
struct Script {
    sequences: Vec<(String, Option<OnEvent>)>,
    /// How often `start` was called.
    starts: usize,
    /// Which start is refused: that one alone.
    refused: Option<usize>,
}

impl Model for Script {
    fn start(&mut self, prompt: &str, on_event: OnEvent) -> Result<(), String> {
        self.starts += 1;
        if self.refused == Some(self.starts - 1) {
            return Err("the queue is full".to_owned());
        }
        self.sequences.push((prompt.to_owned(), Some(on_event)));
        Ok(())
    }
}

/// An event of a sequence: its text, or `None` for its end.
type Short<'a> = (usize, Option<&'a str>);

impl Script {
    /// Plays the events, as far as a sequence has not been stopped. Returns the answers: `true` is
    /// `Continue`.
    fn play(&mut self, events: &[Short]) -> Vec<Option<bool>> {
        let mut answers = Vec::new();
        for &(sequence, text) in events {
            let on_event = &mut self.sequences[sequence].1;
            let event = text.map_or(Event::End, |text| Event::Token(text.to_owned()));
            let answer = on_event.as_mut().map(|on_event| on_event(event));
            if text.is_none() || answer == Some(Next::Stop) {
                *on_event = None;
            }
            answers.push(answer.map(|next| next == Next::Continue));
        }
        answers
    }
}

fn stream() -> (OutStream, Receiver<Item>) {
    let (sender, receiver) = sync_channel(10_000);
    (OutStream::new(sender), receiver)
}

/// An item in short: `0 "text"`, `line 0`, `done 3`.
fn shown(items: impl IntoIterator<Item = Item>) -> Vec<String> {
    let short = |item| match item {
        Item::Text { index, text } => format!("{index} {text:?}"),
        Item::Line { index } => format!("line {index}"),
        Item::Done { tokens } => format!("done {tokens}"),
    };
    items.into_iter().map(short).collect()
}

fn case(rule: &str, prompts: &[&str], events: &[Short]) -> Case {
    Case::rule(rule)
        .given("prompts", prompts)
        .given("events: (sequence, its text, or None for the end)", events)
}

/// `expected`: the items, and whether each event is answered with `Continue`. The answer to an end
/// does not matter.
#[track_caller]
fn check(rule: &str, prompts: &[&str], events: &[Short], expected: (&[&str], &[bool])) {
    let case = case(rule, prompts, events);
    let (out, items) = stream();
    let mut model = Script::default();
    case.equal(Ok(()), first_lines(&mut model, prompts, out));
    let started: Vec<&str> = model.sequences.iter().map(|(prompt, _)| prompt.as_str()).collect();
    case.equal(("started", prompts.to_vec()), ("started", started));
    let answers = model.play(events);
    let tokens = events.iter().zip(answers).filter(|((_, text), _)| text.is_some());
    let continued: Vec<bool> = tokens.map(|(_, answer)| answer == Some(true)).collect();
    let items = shown(items.try_iter());
    let expected_items: Vec<String> = expected.0.iter().map(|&item| item.to_owned()).collect();
    case.equal(("items", expected_items), ("items", items));
    case.equal(
        ("Continue after each token", expected.1.to_vec()),
        ("Continue after each token", continued),
    );
}

#[test]
fn the_example_of_the_task() {
    let events = [(0, Some("x")), (1, Some("y\nz")), (0, None)];
    let items = [r#"0 "x""#, r#"1 "y""#, "line 1", "line 0", "done 2"];
    check(
        "the example above the function: a line ends with the first LF, which stops its sequence, or with the sequence; Done comes after all lines",
        &["a", "b"],
        &events,
        (&items, &[true, false]),
    );
}

#[test]
fn one_line() {
    let rule = "tokens are emitted as they come, and the LF ends the line";
    let events = [(0, Some("Once")), (0, Some(" upon")), (0, Some("\n"))];
    let items = [r#"0 "Once""#, r#"0 " upon""#, "line 0", "done 3"];
    check(rule, &["a"], &events, (&items, &[true, true, false]));
    let rule = "the end of a sequence ends its line";
    let events = [(0, Some("Once")), (0, None)];
    check(rule, &["a"], &events, (&[r#"0 "Once""#, "line 0", "done 1"], &[true]));
    let rule = "a line may be empty";
    check(rule, &["a"], &[(0, None)], (&["line 0", "done 0"], &[]));
    check(rule, &["a"], &[(0, Some("\nb"))], (&["line 0", "done 1"], &[false]));
}

#[test]
fn the_first_lf_is_the_end() {
    let rule = "what comes before the first LF of a token belongs to the line";
    let events = [(0, Some("a b\nc\nd"))];
    check(rule, &["a"], &events, (&[r#"0 "a b""#, "line 0", "done 1"], &[false]));
    let rule = "the line is what comes before its LF, and nothing of it is trimmed";
    let events = [(0, Some("a \r\nb"))];
    check(rule, &["a"], &events, (&[r#"0 "a \r""#, "line 0", "done 1"], &[false]));
    let (long, events) = ("x".repeat(1000), "x".repeat(1000) + "\n");
    let item = format!("0 {long:?}");
    let items = [item.as_str(), "line 0", "done 1"];
    check("a token may be long", &["a"], &[(0, Some(&events))], (&items, &[false]));
    let rule = "only an LF ends a line";
    let events = [(0, Some("a\r")), (0, Some("\u{2028}")), (0, Some("\n"))];
    let items = [r#"0 "a\r""#, r#"0 "\u{2028}""#, "line 0", "done 3"];
    check(rule, &["a"], &events, (&items, &[true, true, false]));
}

#[test]
fn empty_text_is_not_emitted() {
    let rule = "an empty token is counted, and no item";
    let events = [(0, Some("")), (0, Some("a")), (0, Some("")), (0, None)];
    let items = [r#"0 "a""#, "line 0", "done 3"];
    check(rule, &["a"], &events, (&items, &[true, true, true]));
    let rule = "white space is text";
    let items = [r#"0 " ""#, "line 0", "done 1"];
    check(rule, &["a"], &[(0, Some(" ")), (0, None)], (&items, &[true]));
}

#[test]
fn lines_end_in_any_order() {
    let rule = "`Done` comes after the last `Line`, whichever that is";
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let events: Vec<Short> = order.iter().map(|&sequence| (sequence, Some("x\n"))).collect();
        let mut items: Vec<String> =
            order.iter().flat_map(|i| [format!("{i} \"x\""), format!("line {i}")]).collect();
        items.push("done 3".to_owned());
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        check(rule, &["a", "b", "c"], &events, (&items, &[false; 3]));
    }
    let rule = "a line that is complete does not end the others";
    let events = [(0, None), (1, Some("y")), (1, None)];
    let items = ["line 0", r#"1 "y""#, "line 1", "done 1"];
    check(rule, &["a", "b"], &events, (&items, &[true]));
    let rule = "equal prompts are two";
    let events = [(1, Some("y")), (1, None), (0, None)];
    let items = [r#"1 "y""#, "line 1", "line 0", "done 1"];
    check(rule, &["a", "a"], &events, (&items, &[true]));
}

#[test]
fn without_prompts() {
    check("without prompts, all lines are complete at once", &[], &[], (&["done 0"], &[]));
}

#[test]
fn the_reader_has_gone() {
    let events = [(0, Some("x")), (1, Some("y")), (1, Some("z"))];
    let case = case("if the reader has gone, each sequence stops", &["a", "b"], &events)
        .given("the reader leaves", "before the first event");
    let (out, items) = stream();
    let mut model = Script::default();
    case.equal(Ok(()), first_lines(&mut model, &["a", "b"], out));
    drop(items);
    case.equal(vec![Some(false), Some(false), None], model.play(&events));
}

#[test]
fn the_reader_goes_in_the_middle() {
    let events = [(0, Some("x"))];
    let case = case("a sequence goes on until its reader leaves", &["a"], &events)
        .given("the reader leaves", "after two tokens; then a third comes");
    let (out, items) = stream();
    let mut model = Script::default();
    case.equal(Ok(()), first_lines(&mut model, &["a"], out));
    let before = [model.play(&events), model.play(&events)].concat();
    drop(items);
    let after = model.play(&events);
    case.equal((vec![Some(true); 2], vec![Some(false)]), (before, after));
}

#[test]
fn the_reader_goes_while_several_write() {
    let rule = "once the reader has left, each sequence stops at its next text, whichever it is";
    let texts = ["y", "y\n", "\u{e9}", "y y y"];
    for before in 0..6 {
        for text in texts {
            let events = [(before % 3, Some("x"))];
            let case = case(rule, &["a", "b", "c"], &events)
                .given("the reader leaves", format!("after {before} tokens \"x\", in turn"))
                .given("then, of each sequence, a token with the text", text);
            let (out, items) = stream();
            let mut model = Script::default();
            case.equal(Ok(()), first_lines(&mut model, &["a", "b", "c"], out));
            for token in 0..before {
                model.play(&[(token % 3, Some("x"))]);
            }
            drop(items);
            let answers = model.play(&[(2, Some(text)), (0, Some(text)), (1, Some(text))]);
            case.equal(
                ("Continue after each token", vec![Some(false); 3]),
                ("Continue after each token", answers),
            );
        }
    }
}

#[test]
fn a_sequence_is_refused() {
    for refused in 0..3 {
        let case =
            case("the error is returned, and no further sequence is started", &["a"; 3], &[])
                .given("refused", refused);
        let (out, items) = stream();
        let mut model = Script { refused: Some(refused), ..Script::default() };
        let found = first_lines(&mut model, &["a"; 3], out);
        case.equal(Err("the queue is full".to_owned()), found);
        case.equal(("calls of `start`", refused + 1), ("calls of `start`", model.starts));
        let case =
            self::case("the sequences that were started stop, and emit nothing", &["a"; 3], &[])
                .given("refused", refused)
                .given("events", "a token for each sequence that was started");
        let events: Vec<Short> = (0..refused).map(|sequence| (sequence, Some("x"))).collect();
        let answers = model.play(&events);
        case.equal(vec![Some(false); refused], answers);
        case.equal(Vec::<String>::new(), shown(items.try_iter()));
    }
}

#[test]
fn after_a_refusal_every_event_stops() {
    for text in [Some(""), Some("\n"), None] {
        let events = [(0, text), (1, text)];
        let case =
            case("the sequences that were started stop, and emit nothing", &["a"; 3], &events)
                .given("refused", 2);
        let (out, items) = stream();
        let mut model = Script { refused: Some(2), ..Script::default() };
        let found = first_lines(&mut model, &["a"; 3], out);
        case.equal(Err("the queue is full".to_owned()), found);
        let answers = model.play(&events);
        // The answer to an end does not matter.
        if text.is_some() {
            case.equal(vec![Some(false); 2], answers);
        }
        case.equal(Vec::<String>::new(), shown(items.try_iter()));
    }
}

#[test]
fn the_handler_does_not_wait() {
    let case = Case::rule("the handler returns before any event").given("prompts", ["a", "b"]);
    let started = in_time(&case, || {
        let (out, _items) = stream();
        let mut model = Script::default();
        first_lines(&mut model, &["a", "b"], out).map(|()| model.sequences.len())
    });
    case.equal(Ok(2), started);
}

#[test]
fn events_in_another_thread() {
    let case =
        Case::rule("closures may be called in another thread, after the handler has returned")
            .given("prompts", ["a"; 4])
            .given("events", "a line of two tokens for each, in a separate thread");
    let found = in_time(&case, || {
        let (out, items) = stream();
        let mut model = Script::default();
        let result = first_lines(&mut model, &["a"; 4], out);
        let threads: Vec<_> = model
            .sequences
            .into_iter()
            .map(|(_, on_event)| {
                std::thread::spawn(move || {
                    let mut on_event = on_event.expect("no event came yet");
                    on_event(Event::Token("x".into()));
                    on_event(Event::Token("y\n".into()));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("your closure panicked"));
        (result, shown(items.try_iter()))
    });
    let (result, mut items) = found;
    case.equal(Ok(()), result);
    case.equal(Some("done 8".to_owned()), items.pop());
    case.equal(("items", 12), ("items", items.len()));
}

#[test]
fn any_script() {
    let mut random = Random::new(19);
    for _ in 0..100 {
        let count = 1 + random.below(4);
        let (mut open, mut events, mut expected) = (vec![true; count], Vec::new(), Vec::new());
        let mut tokens = 0;
        while open.contains(&true) {
            let index = random.below(count);
            if !open[index] {
                continue;
            }
            let text = [
                Some("a"),
                Some(""),
                Some("b\n"),
                Some("\nc"),
                Some("d"),
                None,
            ];
            let text = text[random.below(text.len())];
            events.push((index, text));
            tokens += usize::from(text.is_some());
            let line = text.unwrap_or_default().split('\n').next().unwrap_or_default();
            if !line.is_empty() {
                expected.push(format!("{index} {line:?}"));
            }
            if text.is_none_or(|text| text.contains('\n')) {
                open[index] = false;
                expected.push(format!("line {index}"));
            }
        }
        expected.push(format!("done {tokens}"));
        let prompts = vec!["a"; count];
        let case = case("all rules together", &prompts, &events);
        let (out, items) = stream();
        let mut model = Script::default();
        case.equal(Ok(()), first_lines(&mut model, &prompts, out));
        model.play(&events);
        case.equal(expected, shown(items.try_iter()));
    }
}
