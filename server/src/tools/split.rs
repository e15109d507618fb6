//! Calls in what a model writes.

use super::scan::ObjectScan;
use super::{Callable, PLAIN, Toolbox};

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Piece {
    /// What the model thinks before it answers.
    Thought(String),
    Text(String),
    /// A call begins.
    Call {
        name: String,
    },
    /// More of the arguments of the call that has begun last.
    Arguments(String),
}

/// Finds the calls in a text that comes in pieces, and is in the [grammar](Toolbox::grammar) of the
/// toolbox. Held back is only what may be the beginning of a call. Without tools, all is text.
#[derive(Debug, Clone)]
pub(in super::super) struct Splitter {
    /// How each call begins, and the name of its tool.
    headers: Vec<(String, String)>,
    /// The same of a call behind another.
    later: Vec<(String, String)>,
    footer: String,
    /// Between two calls, and behind the last one.
    between: &'static str,
    end: &'static str,
    /// Text may come before a call.
    is_anywhere: bool,
    state: State,
    /// What is not yet clear.
    pending: String,
}

#[derive(Debug, Clone)]
enum State {
    /// Before anything else.
    Start,
    Text,
    Arguments(ObjectScan),
    /// Behind the arguments, with what is left of the footer.
    Footer(String),
    /// Behind a call.
    Between,
    /// Behind what is between two calls.
    Next,
}

impl Splitter {
    pub(in super::super) fn new(toolbox: Option<&Toolbox>) -> Self {
        let style = toolbox.map_or(PLAIN, |toolbox| toolbox.style);
        let tools = toolbox.map_or(&[][..], |toolbox| toolbox.tools.as_slice());
        let headers = |before: &str| {
            let header = |tool: &Callable| {
                let text = format!("{before}{}{}", style.open, style.header(&tool.name));
                (text, tool.name.clone())
            };
            tools.iter().map(header).collect::<Vec<(String, String)>>()
        };
        Self {
            // A decoder may leave out the space at the beginning of a text.
            headers: [headers(style.begin), headers(style.begin.trim_start())].concat(),
            later: headers(""),
            footer: style.footer(),
            between: style.between,
            end: style.end,
            is_anywhere: style.has_tags,
            state: State::Start,
            pending: String::new(),
        }
    }

    /// What the next piece of the text says.
    pub(in super::super) fn push(&mut self, text: &str) -> Vec<Piece> {
        self.pending.push_str(text);
        let mut pieces = Vec::new();
        while !self.pending.is_empty() && self.step(&mut pieces) {}
        pieces
    }

    /// What is left at the end of the text: a call that was cut off before its arguments, or what has begun
    /// like a call, and is none.
    pub(in super::super) fn finish(&mut self) -> Option<Piece> {
        let rest = std::mem::take(&mut self.pending);
        let is_cut = |(header, _): &&(String, String)| behind(&rest, header) == Some("");
        let headers = match self.state {
            State::Between => return None,
            State::Next => &self.later,
            _ => &self.headers,
        };
        if let Some((_, name)) = headers.iter().find(is_cut) {
            return Some(Piece::Call { name: name.clone() });
        }
        (!rest.is_empty()).then_some(Piece::Text(rest))
    }

    /// Whether more is clear after this step.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match &mut self.state {
            State::Start | State::Next | State::Text => self.find_call(pieces),
            State::Arguments(scan) => {
                let end = self.pending.char_indices().find(|(_, c)| scan.ends_with(*c));
                let length = end.map_or(self.pending.len(), |(at, c)| at + c.len_utf8());
                pieces.push(Piece::Arguments(self.pending.drain(..length).collect()));
                if end.is_some() {
                    self.state = State::Footer(self.footer.clone());
                }
                true
            }
            State::Footer(left) => {
                let same = left.bytes().zip(self.pending.bytes()).take_while(|(a, b)| a == b);
                let same = same.count();
                self.pending.drain(..same);
                left.drain(..same);
                if left.is_empty() || !self.pending.is_empty() {
                    self.state = State::Between;
                }
                true
            }
            State::Between => {
                let (between, end) = (self.between, self.end);
                if self.pending.len() < between.len() && between.starts_with(&self.pending) {
                    return false;
                }
                let has_next = self.pending.starts_with(between);
                let taken = match has_next {
                    true => between.len(),
                    false if self.pending.starts_with(end) => end.len(),
                    false => 0,
                };
                self.pending.drain(..taken);
                self.state = if has_next && !self.is_anywhere {
                    State::Next
                } else {
                    State::Text
                };
                true
            }
        }
    }

    /// Looks for the beginning of a call.
    fn find_call(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let is_next = matches!(self.state, State::Next);
        let is_start = is_next || matches!(self.state, State::Start);
        let headers = if is_next { &self.later } else { &self.headers };
        let mut places = self.pending.char_indices().map(|(at, _)| at);
        let may_begin = |at: &usize| {
            let rest = &self.pending[*at..];
            let is_one = |(header, _): &(String, String)| {
                header.starts_with(rest) || behind(rest, header).is_some()
            };
            (self.is_anywhere || is_start && *at == 0) && headers.iter().any(is_one)
        };
        let place = places.find(may_begin).unwrap_or(self.pending.len());
        if place > 0 {
            pieces.push(Piece::Text(self.pending.drain(..place).collect()));
            self.state = State::Text;
        }
        let has_begun = |(header, _): &&(String, String)| {
            behind(&self.pending, header).is_some_and(|arguments| !arguments.is_empty())
        };
        let Some((header, name)) = headers.iter().find(has_begun) else {
            return false;
        };
        pieces.push(Piece::Call { name: name.clone() });
        self.pending.drain(..header.len());
        self.state = State::Arguments(ObjectScan::default());
        true
    }
}

/// What is known of the arguments of a call that begins with `header`. None for a text that is no call, as
/// an answer that is JSON may begin like one: the arguments are an object.
fn behind<'a>(text: &'a str, header: &str) -> Option<&'a str> {
    let arguments = text.strip_prefix(header)?.trim_start();
    (arguments.is_empty() || arguments.starts_with('{')).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{HERMES, Style, mistral, mistral_args};
    use super::*;

    fn splitter(style: Style) -> Splitter {
        let tools = ["feed", "feed_all"].map(|name| Callable {
            name: name.to_owned(),
            place: String::new(),
            parameters: json!({}),
        });
        let tools = tools.into();
        Splitter::new(Some(&Toolbox { style, tools, is_required: false, is_parallel: true }))
    }

    /// The pieces of a text, those of the same kind joined. In whatever pieces it comes, they are the
    /// same.
    fn split(style: Style, text: &str) -> Vec<Piece> {
        let joined = |parts: &[&str]| {
            let mut splitter = splitter(style);
            let mut pieces: Vec<Piece> =
                parts.iter().flat_map(|part| splitter.push(part)).collect();
            pieces.extend(splitter.finish());
            pieces.into_iter().fold(Vec::new(), |mut joined: Vec<Piece>, piece| {
                match (joined.last_mut(), piece) {
                    (Some(Piece::Text(before)), Piece::Text(text))
                    | (Some(Piece::Arguments(before)), Piece::Arguments(text)) => *before += &text,
                    (_, piece) => joined.push(piece),
                }
                joined
            })
        };
        let whole = joined(&[text]);
        for (at, _) in text.char_indices() {
            let (head, tail) = text.split_at(at);
            assert_eq!(joined(&[head, tail]), whole, "{head} | {tail}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(joined(&letters), whole);
        whole
    }

    fn call(name: &str, arguments: &str) -> [Piece; 2] {
        [
            Piece::Call { name: name.to_owned() },
            Piece::Arguments(arguments.to_owned()),
        ]
    }

    #[test]
    fn a_call_alone_is_one_only_at_the_start() {
        let text = r#"{"name": "feed_all", "arguments": {"a": ["}", {"b": "\""}]}}"#;
        assert_eq!(split(PLAIN, text), call("feed_all", r#"{"a": ["}", {"b": "\""}]}"#));
        for text in [
            "",
            "é and ü",
            r#"{"name": "fee"#,
            r#"{"name": "sing", "arguments": {}}"#,
            r#"{"name": "feed", "arguments": 3}"#,
            r#"{"name": "feed", "arguments": [{}]}"#,
            r#"So {"name": "feed", "arguments": {}}"#,
        ] {
            let expected = (!text.is_empty()).then(|| Piece::Text(text.to_owned()));
            assert_eq!(split(PLAIN, text), Vec::from_iter(expected));
        }
        let cut = r#"{"name": "feed", "arguments": {"a": "#;
        assert_eq!(split(PLAIN, cut), call("feed", r#"{"a": "#));
        let [begun, _] = call("feed", "");
        assert_eq!(split(PLAIN, r#"{"name": "feed", "arguments": "#), [begun]);
    }

    #[test]
    fn calls_in_tags_come_after_text_and_after_each_other() {
        let first = "<tool_call>\n{\"name\": \"feed\", \"arguments\": {}}\n</tool_call>";
        let second =
            "<tool_call>\n{\"name\": \"feed_all\", \"arguments\": {\"a\": 1}}\n</tool_call>";
        let [a, b] = call("feed", "{}");
        let [c, d] = call("feed_all", "{\"a\": 1}");
        let text = Piece::Text("1 < 2 <tool\n".to_owned());
        assert_eq!(split(HERMES, first), [a.clone(), b.clone()]);
        assert_eq!(
            split(HERMES, &format!("1 < 2 <tool\n{first}\n{second}")),
            [text.clone(), a, b, c, d]
        );
        assert_eq!(split(HERMES, "1 < 2 <tool\n"), [text]);
        let no_call = "<tool_call>\n{\"name\": \"feed\", \"arguments\": 3}".to_owned();
        assert_eq!(split(HERMES, &no_call), [Piece::Text(no_call)]);
        assert_eq!(split(HERMES, "<tool_call>\n{"), [Piece::Text("<tool_call>\n{".to_owned())]);
    }

    #[test]
    fn calls_of_mistral_are_a_list_or_come_after_each_other() {
        let [a, b] = call("feed", "{}");
        let [c, d] = call("feed_all", "{\"a\": [1]}");
        let first = r#"{"name": "feed", "arguments": {}}"#;
        let second = r#"{"name": "feed_all", "arguments": {"a": [1]}}"#;
        let style = mistral(5, " [");
        assert_eq!(split(style, &format!(" [{first}]")), [a.clone(), b.clone()]);
        let both = [a.clone(), b.clone(), c.clone(), d.clone()];
        assert_eq!(split(style, &format!(" [{first}, {second}]")), both);
        assert_eq!(split(style, &format!("[{first}, {second}]")), both);
        assert_eq!(split(style, &format!("[{first},")), [a.clone(), b.clone()]);
        let text = Piece::Text("[1, 2]".to_owned());
        assert_eq!(split(style, "[1, 2]"), [text]);
        let style = mistral_args(5, 6);
        assert_eq!(split(style, "feed{}feed_all{\"a\": [1]}"), both);
        let text = Piece::Text("feeding is fun".to_owned());
        assert_eq!(split(style, "feeding is fun"), [text]);
    }
}
