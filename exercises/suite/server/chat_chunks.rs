use super::chat_chunks::{ChatStream, Chunk, Event, Reason};
use crate::support::Case;

use Reason::{Context, Eos, Length, StopString};

fn text(index: usize, text: &str) -> Event {
    Event::Text { index, text: text.to_owned() }
}

fn end(index: usize, text: &str, reason: Reason, tokens: usize) -> Event {
    Event::End { index, text: text.to_owned(), reason, tokens }
}

/// A chunk in short: `0: content "On"`.
fn shown(chunk: Chunk) -> String {
    let mut parts = Vec::new();
    for choice in chunk.choices {
        let mut part = format!("{}:", choice.index);
        if let Some(role) = choice.delta.role {
            part += &format!(" role {role}");
        }
        if let Some(content) = choice.delta.content {
            part += &format!(" content {content:?}");
        }
        if let Some(reason) = choice.finish_reason {
            part += &format!(" finish_reason {reason}");
        }
        parts.push(part);
    }
    if let Some(usage) = chunk.usage {
        let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
        parts.push(format!("usage {prompt}, {completion}, {}", usage.total_tokens));
    }
    parts.join(" | ")
}

/// Each event on a separate line.
fn lines(events: &[Event]) -> String {
    events.iter().map(|event| format!("\n    {event:?}")).collect()
}

fn role(index: usize) -> String {
    format!("{index}: role assistant content \"\"")
}

/// The chunks of each event, for 5 prompt tokens.
fn check(rule: &str, (n, include_usage): (usize, bool), events: &[Event], expected: &[&[&str]]) {
    let case = Case::rule(format!("{rule} (shown: the chunks of each event)"))
        .given("n", n)
        .given("prompt_tokens", 5)
        .given("include_usage", include_usage)
        .given("events", format_args!("{}", lines(events)));
    let mut stream = ChatStream::new(n, 5, include_usage);
    let found: Vec<Vec<String>> = events
        .iter()
        .map(|event| stream.push(event.clone()).into_iter().map(shown).collect())
        .collect();
    let expected: Vec<Vec<String>> = expected
        .iter()
        .map(|chunks| chunks.iter().map(|&chunk| chunk.to_owned()).collect())
        .collect();
    case.equal(expected, found);
}

#[test]
fn text_is_content() {
    let rule = "text is the content of a chunk, and the first event sends the role before it";
    let events = [text(0, "On"), text(0, "ce")];
    check(
        rule,
        (1, false),
        &events,
        &[&[&role(0), r#"0: content "On""#], &[r#"0: content "ce""#]],
    );
}

#[test]
fn a_whole_answer() {
    let rule = "the last chunk of a choice has an empty delta and the finish reason";
    let events = [text(0, "Once"), end(0, "", Eos, 4)];
    check(
        rule,
        (1, false),
        &events,
        &[
            &[&role(0), r#"0: content "Once""#],
            &["0: finish_reason stop"],
        ],
    );
}

#[test]
fn the_example_of_the_task() {
    let events = [text(0, "On"), text(0, ""), end(0, "ce", Length, 3)];
    check(
        "the example above the function: the role comes first and once, then text, then an empty delta with the finish reason, then the usage",
        (1, true),
        &events,
        &[
            &[&role(0), r#"0: content "On""#],
            &[],
            &[
                r#"0: content "ce""#,
                "0: finish_reason length",
                "usage 5, 3, 8",
            ],
        ],
    );
}

#[test]
fn every_reason() {
    for (reason, said) in [
        (Eos, "stop"),
        (StopString, "stop"),
        (Length, "length"),
        (Context, "length"),
    ] {
        let events = [text(0, "a"), end(0, "", reason, 1)];
        let last = format!("0: finish_reason {said}");
        check(
            "`stop` if the model or a stop string ended it, `length` if no room was left",
            (1, false),
            &events,
            &[&[&role(0), r#"0: content "a""#], &[&last]],
        );
    }
}

#[test]
fn text_that_is_held_back() {
    let rule = "an empty text sends no content, but it may be the first event";
    let events = [text(0, ""), text(0, ""), text(0, "a")];
    check(rule, (1, false), &events, &[&[&role(0)], &[], &[r#"0: content "a""#]]);
    let rule = "what was held back at the end gets a separate chunk, before the finish reason";
    let events = [text(0, ""), end(0, "E", Eos, 1)];
    check(
        rule,
        (1, false),
        &events,
        &[&[&role(0)], &[r#"0: content "E""#, "0: finish_reason stop"]],
    );
}

#[test]
fn an_answer_without_text() {
    let rule = "a choice without text has its role and its finish reason";
    let events = [end(0, "", StopString, 2)];
    check(rule, (1, false), &events, &[&[&role(0), "0: finish_reason stop"]]);
    check(
        rule,
        (1, true),
        &events,
        &[&[&role(0), "0: finish_reason stop", "usage 5, 2, 7"]],
    );
}

#[test]
fn white_space_is_text() {
    let events = [text(0, " "), text(0, "\n")];
    check(
        "white space is text",
        (1, false),
        &events,
        &[&[&role(0), r#"0: content " ""#], &[r#"0: content "\n""#]],
    );
}

#[test]
fn interleaved_choices() {
    let rule = "each choice has a role, its own text and its own end";
    let events = [
        text(1, "a"),
        text(0, "b"),
        text(1, "c"),
        end(0, "", Length, 1),
        text(1, "d"),
        end(1, "", Eos, 4),
    ];
    check(
        rule,
        (2, false),
        &events,
        &[
            &[&role(1), r#"1: content "a""#],
            &[&role(0), r#"0: content "b""#],
            &[r#"1: content "c""#],
            &["0: finish_reason length"],
            &[r#"1: content "d""#],
            &["1: finish_reason stop"],
        ],
    );
}

#[test]
fn usage_of_several_choices() {
    let rule = "the usage comes once, after the last end: the prompt once, the tokens of all";
    let ends = |order: [usize; 3]| order.map(|index| end(index, "", Eos, 10 + index));
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let chunks = order.map(|index| [role(index), format!("{index}: finish_reason stop")]);
        let [first, second, third] = chunks.each_ref().map(|[a, b]| [a.as_str(), b.as_str()]);
        let third = [third[0], third[1], "usage 5, 33, 38"];
        check(rule, (3, true), &ends(order), &[&first, &second, &third]);
        check(
            "no usage if nobody asked for it",
            (3, false),
            &ends(order),
            &[&first, &second, &third[..2]],
        );
    }
}

#[test]
fn a_choice_may_have_no_tokens() {
    let rule = "a choice that ends without a token has 0 of them, and its end counts";
    let last = ["0: finish_reason stop", "usage 5, 0, 5"];
    check(rule, (1, true), &[end(0, "", Eos, 0)], &[&[&role(0), last[0], last[1]]]);
    let events = [end(1, "", Eos, 0), end(0, "", Length, 3)];
    check(
        rule,
        (2, true),
        &events,
        &[
            &[&role(1), "1: finish_reason stop"],
            &[&role(0), "0: finish_reason length", "usage 5, 3, 8"],
        ],
    );
}

#[test]
fn usage_has_no_choice() {
    let case = Case::rule("the chunk with the usage has no choices, and no other has a usage")
        .given("n", 2)
        .given("prompt_tokens", 5)
        .given("include_usage", true);
    let mut stream = ChatStream::new(2, 5, true);
    let events = [
        text(0, "a"),
        end(0, "", Eos, 1),
        text(1, "b"),
        end(1, "", Eos, 1),
    ];
    let found: Vec<(usize, bool)> = events
        .into_iter()
        .flat_map(|event| stream.push(event))
        .map(|chunk| (chunk.choices.len(), chunk.usage.is_some()))
        .collect();
    let mut expected = vec![(1, false); 6];
    expected.push((0, true));
    case.equal(("(choices, usage) of each", expected), ("(choices, usage) of each", found));
}
