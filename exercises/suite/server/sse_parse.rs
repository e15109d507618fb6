use super::sse_parse::{Event, Parser};
use crate::support::{Case, Random};

/// The name, the data and the id of an event.
type Short = (String, String, String);

fn short(event: Event) -> Short {
    (event.name, event.data, event.id)
}

fn event(name: &str, data: &str, id: &str) -> Short {
    (name.to_owned(), data.to_owned(), id.to_owned())
}

/// Shows bytes as text with escapes.
fn shown<'a>(pieces: impl IntoIterator<Item = &'a &'a [u8]>) -> String {
    let quoted = |piece: &&[u8]| format!("\"{}\" ", piece.escape_ascii());
    pieces.into_iter().map(quoted).collect()
}

/// The events that each piece gives.
fn check(rule: &str, pieces: &[&[u8]], expected: &[&[Short]]) {
    let case = Case::rule(format!(
        "{rule} (shown: for each piece, the events that it gives: name, data, id)"
    ))
    .given("pieces", format_args!("{}", shown(pieces)));
    let mut parser = Parser::default();
    let found: Vec<Vec<Short>> =
        pieces.iter().map(|piece| parser.push(piece).into_iter().map(short).collect()).collect();
    let expected: Vec<Vec<Short>> = expected.iter().map(|events| events.to_vec()).collect();
    case.equal(expected, found);
}

/// A stream in one piece. All its events are messages without an id.
fn check_data(rule: &str, stream: &[u8], expected: &[&str]) {
    let events: Vec<Short> = expected.iter().map(|data| event("message", data, "")).collect();
    check(rule, &[stream], &[&events]);
}

#[test]
fn one_event() {
    check_data("one line of data and an empty line", b"data: once\n\n", &["once"]);
}

#[test]
fn several_events() {
    let rule = "a piece may end several events";
    check_data(rule, b"data: 1\n\ndata: 2\n\ndata: [DONE]\n\n", &["1", "2", "[DONE]"]);
}

#[test]
fn several_lines_of_data() {
    let rule = "lines of data are joined with LF";
    check_data(rule, b"data: once\ndata: upon\n\n", &["once\nupon"]);
    check_data(rule, b"data: a\ndata:\ndata: b\ndata\n\n", &["a\n\nb\n"]);
}

#[test]
fn an_event_that_has_not_ended() {
    let rule = "an event comes with the empty line that ends it, not earlier and not later";
    let once = event("message", "once", "");
    check(rule, &[b"data: once", b"\n", b"\n", b"\n"], &[&[], &[], &[once], &[]]);
}

#[test]
fn cut_within_a_line() {
    let rule = "bytes may be cut within a line";
    let once = event("message", "once upon", "");
    check(rule, &[b"da", b"", b"ta: once", b" upon\n\nda"], &[&[], &[], &[], &[once]]);
}

#[test]
fn cut_within_a_character() {
    let rule = "bytes may be cut within a character";
    let apple = event("message", "\u{1f34e}", "");
    let pieces: [&[u8]; 4] = [b"data: \xF0", b"\x9F\x8D", b"\x8E", b"\n\n"];
    check(rule, &pieces, &[&[], &[], &[], &[apple]]);
}

#[test]
fn every_kind_of_line_end() {
    let rule = "a line ends with LF, with CR LF or with CR";
    check_data(rule, b"data: a\r\ndata: b\r\n\r\n", &["a\nb"]);
    check_data(rule, b"data: a\rdata: b\r\r", &["a\nb"]);
    check_data(rule, b"data: a\ndata: b\r\rdata: c\r\n\ndata: d\n\r", &["a\nb", "c", "d"]);
}

#[test]
fn cut_between_cr_and_lf() {
    let rule = "CR LF is one line end, even if it is cut in two";
    let both = event("message", "a\nb", "");
    check(
        rule,
        &[
            b"data: a\r",
            b"\ndata: b\r",
            b"",
            b"\n",
            b"\r",
            b"\ndata: c",
        ],
        &[&[], &[], &[], &[], &[both], &[]],
    );
}

#[test]
fn a_cr_ends_its_line_at_once() {
    let rule = "a CR ends its line at once, whatever comes next";
    let (a, b) = (event("message", "a", ""), event("message", "b", ""));
    check(rule, &[b"data: a\r", b"\r", b"data: b\r\n\r", b"\n"], &[&[], &[a], &[b], &[]]);
}

#[test]
fn comments() {
    let rule = "a line that begins with a colon is a comment";
    check_data(rule, b": keep-alive\n\n:\n\ndata: a\n:data: b\n: c\ndata: d\n\n", &["a\nd"]);
}

#[test]
fn one_space_after_the_colon() {
    let rule = "one space after the colon is left out, and no more";
    check_data(
        rule,
        b"data:a\n\ndata: b\n\ndata:  c \n\ndata:\td\n\n",
        &["a", "b", " c ", "\td"],
    );
}

#[test]
fn colons_in_the_value() {
    let rule = "the field ends at the first colon";
    check_data(rule, b"data: {\"a\": 1}\n\ndata:: b: c\n\n", &["{\"a\": 1}", ": b: c"]);
}

#[test]
fn names() {
    let rule = "`event` names only this event, not the next one";
    check(
        rule,
        &[b"event: error\ndata: a\n\ndata: b\n\nevent: x\nevent: y\ndata: c\n\n"],
        &[&[
            event("error", "a", ""),
            event("message", "b", ""),
            event("y", "c", ""),
        ]],
    );
    let rule = "one space after the colon is left out of a name, and no more";
    check(rule, &[b"event:  x \ndata: a\n\n"], &[&[event(" x ", "a", "")]]);
    let rule = "a comment between a name and its data changes nothing";
    check(rule, &[b"event: x\n: hello\ndata: a\n\n"], &[&[event("x", "a", "")]]);
    let rule = "an empty name is `message`";
    check(rule, &[b"event: x\nevent\ndata: a\n\n"], &[&[event("message", "a", "")]]);
}

#[test]
fn without_data_there_is_no_event() {
    let rule = "without a line of data there is no event, and its name is forgotten";
    check(rule, &[b"\n\nevent: ping\n\ndata: a\n\n"], &[&[event("message", "a", "")]]);
    let rule = "an empty line of data is a line of data";
    check_data(rule, b"data\n\ndata:\n\ndata: \n\n", &["", "", ""]);
    check_data(rule, b"data\ndata\n\n", &["\n"]);
}

#[test]
fn ids() {
    let rule = "an id counts from its line on, also for later events";
    check(
        rule,
        &[b"data: a\n\ndata: b\nid: 7\n\ndata: c\n\nid: 8\n\ndata: d\n\nid\ndata: e\n\n"],
        &[&[
            event("message", "a", ""),
            event("message", "b", "7"),
            event("message", "c", "7"),
            event("message", "d", "8"),
            event("message", "e", ""),
        ]],
    );
    let rule = "one space after the colon is left out of an id, and no more";
    check(rule, &[b"id:  7 \ndata: a\n\n"], &[&[event("message", "a", " 7 ")]]);
    let rule = "an id with a NUL is ignored";
    check(rule, &[b"id: 7\nid: 8\0\ndata: a\n\n"], &[&[event("message", "a", "7")]]);
}

#[test]
fn unknown_fields() {
    let rule = "other fields are ignored, and large letters make another field";
    let stream = b"name: x\ndata : b\n data: c\nDATA: d\nEvent: e\ndatabase: f\ndata: a\n\n";
    check_data(rule, stream, &["a"]);
}

#[test]
fn invalid_bytes() {
    let rule = "bytes that are no UTF-8 become U+FFFD";
    check_data(rule, b"data: a\xFFb\xF0\x9F\ndata: c\n\n", &["a\u{fffd}b\u{fffd}\nc"]);
}

#[test]
fn a_byte_order_mark() {
    let rule = "a byte order mark at the very beginning is left out, and nowhere else";
    let bom = event("message", "\u{feff}", "");
    check(
        rule,
        &[
            b"\xEF",
            b"\xBB\xBFdata: a\n\n",
            b"\xEF\xBB\xBFdata: b\n",
            b"data: \xEF\xBB\xBF\n\n",
        ],
        &[&[], &[event("message", "a", "")], &[], &[bom]],
    );
    // With the mark, the line is one of an unknown field.
    let rule = "after an empty line, the stream has begun";
    check_data(rule, b"\n\xEF\xBB\xBFdata: a\ndata: b\n\n", &["b"]);
    let rule = "one byte order mark is left out, and no more";
    check_data(rule, b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\ndata: b\n\n", &["b"]);
}

#[test]
fn retry() {
    let check = |rule: &str, stream: &str, expected: Option<u64>| {
        let case = Case::rule(rule).given("stream", stream);
        let mut parser = Parser::default();
        parser.push(stream.as_bytes());
        case.equal(expected, parser.retry());
    };
    let rule = "the value of the last `retry` that has one";
    check(rule, "data: a\n\n", None);
    check(rule, "retry: 1500\n", Some(1500));
    check(rule, "retry: 1500", None);
    check(rule, "retry: 10\nretry: 0\n", Some(0));
    check(rule, "retry:10\n\nretry: 007\n", Some(7));
    check(rule, "retry: 10\ndata: a\n\ndata: b\n\n", Some(10));
    let rule = "a value consists of ASCII digits alone, and fits in a u64";
    for other in [
        "",
        "+5",
        "-5",
        "5s",
        "1.5",
        " 5",
        "\u{661}",
        "99999999999999999999",
    ] {
        check(rule, &format!("retry: 10\nretry: {other}\n"), Some(10));
    }
    check(rule, "retry: 18446744073709551615\n", Some(u64::MAX));
}

#[test]
fn a_name_may_hold_anything() {
    let rule = "only an id with a NUL is ignored";
    check(rule, &[b"event: a\0b\ndata: c\n\n"], &[&[event("a\0b", "c", "")]]);
}

#[test]
fn a_line_may_be_long() {
    let text = "x".repeat(200_000);
    let case = Case::rule("all of a line counts").given("stream", "a line of 200,000 characters");
    let mut parser = Parser::default();
    let events = parser.push(format!("data: {text}\n\n").as_bytes());
    let lengths: Vec<usize> = events.iter().map(|event| event.data.len()).collect();
    case.equal(vec![200_000], lengths);
}

#[test]
fn cut_anywhere() {
    let stream = "\u{feff}: hi\r\nid: 1\r\nevent: \u{e9}\r\ndata: \u{1f34e}\u{e9}\r\ndata: b\r\n\r\n\
                  data: c\n\ndata: d\r\rdata: e\n\n";
    let expected = [
        event("\u{e9}", "\u{1f34e}\u{e9}\nb", "1"),
        event("message", "c", "1"),
        event("message", "d", "1"),
        event("message", "e", "1"),
    ];
    let mut random = Random::new(3);
    for round in 0..300 {
        let most = 1 + round / 10;
        let (mut rest, mut pieces) = (stream.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(1 + random.below(most)));
            pieces.push(piece);
            rest = behind;
        }
        let case = Case::rule("the same events, wherever the bytes are cut")
            .given("pieces", format_args!("{}", shown(&pieces)));
        let mut parser = Parser::default();
        let found: Vec<Short> =
            pieces.iter().flat_map(|piece| parser.push(piece)).map(short).collect();
        case.equal(expected.to_vec(), found);
    }
}
