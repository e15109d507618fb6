use super::sse_encode::{event, stream};
use crate::support::{Case, Random};

fn check(rule: &str, name: Option<&str>, data: &str, expected: Option<&str>) {
    let case = Case::rule(rule).given("name", name).given("data", data);
    case.equal(expected.map(str::to_owned), event(name, data));
}

#[test]
fn one_line_of_data() {
    let rule = "`data: `, the line, LF, and LF again";
    check(rule, None, "{}", Some("data: {}\n\n"));
    check(rule, None, r#"{"text":"a b"}"#, Some("data: {\"text\":\"a b\"}\n\n"));
}

#[test]
fn an_event_with_a_name() {
    let rule = "the name has a separate line, before the data";
    check(rule, Some("error"), "{}", Some("event: error\ndata: {}\n\n"));
    check(rule, Some(""), "{}", Some("event: \ndata: {}\n\n"));
    let rule = "a name may hold anything but CR and LF";
    check(rule, Some(" a "), "{}", Some("event:  a \ndata: {}\n\n"));
    check(rule, Some("a\tb: c"), "{}", Some("event: a\tb: c\ndata: {}\n\n"));
    check(rule, Some("a\0\u{85}"), "{}", Some("event: a\0\u{85}\ndata: {}\n\n"));
}

#[test]
fn several_lines_of_data() {
    let rule = "each line of data begins with `data: `";
    check(rule, None, "a\nb", Some("data: a\ndata: b\n\n"));
    check(
        rule,
        Some("error"),
        "a\nb\nc",
        Some("event: error\ndata: a\ndata: b\ndata: c\n\n"),
    );
    check(rule, None, "a\n\nb", Some("data: a\ndata: \ndata: b\n\n"));
}

#[test]
fn every_kind_of_line_end() {
    let rule = "a line of data ends with LF, with CR LF or with CR, and no CR is sent";
    check(rule, None, "a\r\nb", Some("data: a\ndata: b\n\n"));
    check(rule, None, "a\rb", Some("data: a\ndata: b\n\n"));
    check(rule, None, "a\n\rb", Some("data: a\ndata: \ndata: b\n\n"));
    check(rule, None, "a\r\r\nb", Some("data: a\ndata: \ndata: b\n\n"));
}

#[test]
fn a_line_end_at_the_end() {
    let rule = "a line end at the end of the data is not lost: an empty line follows";
    check(rule, None, "a\n", Some("data: a\ndata: \n\n"));
    check(rule, None, "a\r", Some("data: a\ndata: \n\n"));
    check(rule, None, "a\r\n", Some("data: a\ndata: \n\n"));
    check(rule, None, "\n", Some("data: \ndata: \n\n"));
}

#[test]
fn empty_data() {
    check("empty data is one empty line", None, "", Some("data: \n\n"));
    check(
        "empty data is one empty line",
        Some("ping"),
        "",
        Some("event: ping\ndata: \n\n"),
    );
}

#[test]
fn text_is_not_changed() {
    let rule = "within a line, nothing is changed";
    check(rule, None, "  a: b ", Some("data:   a: b \n\n"));
    check(rule, None, "data: x", Some("data: data: x\n\n"));
    check(
        rule,
        None,
        "\u{e9}\u{1f34e}\u{2028}\\n",
        Some("data: \u{e9}\u{1f34e}\u{2028}\\n\n\n"),
    );
    let rule = "only LF, CR LF and CR end a line";
    let data = "a\u{b}b\u{c}c\u{85}d\0e";
    check(rule, None, data, Some("data: a\u{b}b\u{c}c\u{85}d\0e\n\n"));
}

#[test]
fn a_name_with_a_line_end() {
    for name in ["a\nb", "a\rb", "a\r\ndata: mine", "a\n", "\r"] {
        check("a name with CR or LF is refused", Some(name), "{}", None);
    }
}

#[test]
fn a_whole_stream() {
    let check = |chunks: &[&str], expected: &str| {
        let case = Case::rule("an event for each chunk, in order, and then `[DONE]`")
            .given("chunks", chunks);
        case.equal(expected.to_owned(), stream(chunks));
    };
    check(&["{}"], "data: {}\n\ndata: [DONE]\n\n");
    check(
        &["{\"n\":1}", "{\"n\":2}"],
        "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n",
    );
    check(&[], "data: [DONE]\n\n");
    check(&[""], "data: \n\ndata: [DONE]\n\n");
    check(&["{\n}", "{}"], "data: {\ndata: }\n\ndata: {}\n\ndata: [DONE]\n\n");
}

#[test]
fn what_a_client_reads() {
    let mut random = Random::new(8);
    for _ in 0..300 {
        let parts = ["a", ":", " ", "\n", "\r", "\r\n", "data", "\u{e9}"];
        let data: String = (0..random.below(9)).map(|_| parts[random.below(parts.len())]).collect();
        let case =
            Case::rule("the lines of data, joined with LF, are the data").given("data", &data);
        let sent = event(None, &data).unwrap_or_default();
        let lines: Option<Vec<&str>> = sent
            .strip_suffix("\n\n")
            .map(|lines| lines.split('\n').map(|line| &line["data: ".len()..]).collect());
        let joined = data.replace("\r\n", "\n").replace('\r', "\n");
        case.equal(Some(joined), lines.map(|lines| lines.join("\n")));
    }
}
