//! Calls in what a model writes.

use super::scan::ObjectScan;
use super::style::{Arguments, PLAIN, Style};
use super::tagged::TaggedScan;
use super::{Callable, Toolbox};

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Piece {
    /// What the model thinks before it answers.
    Thought(String),
    Text(String),
    /// A call begins.
    Call {
        name: String,
        /// Where the model gives it one.
        id: Option<String>,
    },
    /// More of the arguments of the call that has begun last.
    Arguments(String),
}

/// Finds the calls in a text that comes in pieces, and is in the [grammar](Toolbox::grammar) of the
/// toolbox. Held back is only what may be the beginning of a call. Without tools, all is text.
#[derive(Debug, Clone)]
pub(in super::super) struct Splitter {
    style: Style,
    tools: Vec<Callable>,
    /// The special tokens that have no text of their own.
    marks: Vec<(u32, &'static str)>,
    /// How a call begins.
    headers: Vec<Header>,
    /// The same of a call behind another.
    later: Vec<Header>,
    state: State,
    /// What is not yet clear.
    pending: String,
}

/// How a call of a tool begins.
#[derive(Debug, Clone)]
struct Header {
    tool: usize,
    /// Up to the end of the name.
    begin: String,
    /// Where the name begins, with what is before it of its own.
    name: usize,
    is_numbered: bool,
    /// Between the name, or its number, and the arguments.
    end: &'static str,
    /// What arguments begin with.
    first: char,
}

/// How much of a text is a header.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    None,
    /// It may become one.
    Begun,
    /// It is whole, and no argument has come.
    Named,
    /// It has this length, and arguments come behind it.
    Whole(usize),
}

impl Header {
    /// An answer that is JSON may begin like a call, and be none.
    fn read(&self, text: &str) -> Read {
        let Some(rest) = text.strip_prefix(&self.begin) else {
            return if self.begin.starts_with(text) {
                Read::Begun
            } else {
                Read::None
            };
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = if self.is_numbered { digits } else { 0 };
        let behind = &rest[digits..];
        let Some(arguments) = behind.strip_prefix(self.end) else {
            return if self.end.starts_with(behind) {
                Read::Begun
            } else {
                Read::None
            };
        };
        match arguments.trim_start().chars().next() {
            None => Read::Named,
            Some(c) if c == self.first => Read::Whole(text.len() - arguments.len()),
            Some(_) => Read::None,
        }
    }

    /// The call of a text that begins with this header.
    fn call(&self, text: &str, tools: &[Callable]) -> Piece {
        let end = text.find(self.end).filter(|_| self.is_numbered);
        Piece::Call {
            name: tools[self.tool].name.clone(),
            id: end.map(|end| text[self.name..end].to_owned()),
        }
    }
}

#[derive(Debug, Clone)]
enum State {
    /// Before anything else.
    Start,
    Text,
    Object(ObjectScan),
    Tagged(Box<TaggedScan>),
    /// Behind the arguments, with what is left of what closes the call.
    Close(&'static str),
    /// Behind a call.
    Between,
    /// Behind what is between two calls.
    Next,
}

impl Splitter {
    pub(in super::super) fn new(toolbox: Option<&Toolbox>) -> Self {
        let style = toolbox.map_or(PLAIN, |toolbox| toolbox.style);
        let tools = toolbox.map_or(Vec::new(), |toolbox| toolbox.tools.clone());
        let [before, end] = style.name;
        let number = if style.is_numbered { ":" } else { "" };
        let headers = |lead: &str| {
            let header = |(tool, Callable { name, .. }): (usize, &Callable)| Header {
                tool,
                begin: format!("{lead}{before}{name}{number}"),
                name: lead.len(),
                is_numbered: style.is_numbered,
                end,
                first: if style.arguments == Arguments::Object {
                    '{'
                } else {
                    '<'
                },
            };
            tools.iter().enumerate().map(header).collect::<Vec<Header>>()
        };
        let lead = style.lead();
        Self {
            // A decoder may leave out the space behind a special token.
            headers: [headers(&lead), headers(&lead.replace("] [", "]["))].concat(),
            later: headers(style.open),
            // Those of headers are known to what divides thoughts.
            marks: toolbox
                .filter(|toolbox| toolbox.style.answer.is_empty())
                .map_or(Vec::new(), |toolbox| toolbox.marks.clone()),
            style,
            tools,
            state: State::Start,
            pending: String::new(),
        }
    }

    /// Whether there is something to call.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// What a token stands for that has no text of its own.
    pub(super) fn mark(&self, id: u32) -> Option<&'static str> {
        self.marks.iter().find(|(mark, _)| *mark == id).map(|(_, text)| *text)
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
        let headers = match &self.state {
            State::Close(_) | State::Between => return None,
            State::Tagged(scan) => {
                let rest = scan.finish(&rest);
                return (!rest.is_empty()).then_some(Piece::Arguments(rest));
            }
            State::Next => &self.later,
            _ => &self.headers,
        };
        if let Some(header) = headers.iter().find(|header| header.read(&rest) == Read::Named) {
            return Some(header.call(&rest, &self.tools));
        }
        (!rest.is_empty()).then_some(Piece::Text(rest))
    }

    /// Whether more is clear after this step.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match &mut self.state {
            State::Start | State::Next | State::Text => self.find_call(pieces),
            State::Object(scan) => {
                let end = self.pending.char_indices().find(|(_, c)| scan.ends_with(*c));
                let length = end.map_or(self.pending.len(), |(at, c)| at + c.len_utf8());
                pieces.push(Piece::Arguments(self.pending.drain(..length).collect()));
                if end.is_some() {
                    self.state = State::Close(self.style.close);
                }
                true
            }
            State::Tagged(scan) => {
                let mut json = String::new();
                let is_end = scan.step(&mut self.pending, &mut json);
                if !json.is_empty() {
                    pieces.push(Piece::Arguments(json));
                }
                if is_end == Some(true) {
                    self.state = State::Close(self.style.close);
                }
                is_end.is_some()
            }
            State::Close(left) => {
                let same = left.bytes().zip(self.pending.bytes()).take_while(|(a, b)| a == b);
                let mut same = same.count();
                while !left.is_char_boundary(same) {
                    same -= 1;
                }
                self.pending.drain(..same);
                *left = &left[same..];
                if left.is_empty() || !self.pending.is_empty() {
                    self.state = State::Between;
                }
                true
            }
            State::Between => {
                let Style { between, end, .. } = self.style;
                let is_begun =
                    |text: &str| text.len() > self.pending.len() && text.starts_with(&self.pending);
                if is_begun(end) || is_begun(between) {
                    return false;
                }
                let is_end = !end.is_empty() && self.pending.starts_with(end);
                let has_next = !is_end && self.pending.starts_with(between);
                let taken = match (is_end, has_next) {
                    (true, _) => end.len(),
                    (_, true) => between.len(),
                    _ => 0,
                };
                self.pending.drain(..taken);
                self.state = if has_next { State::Next } else { State::Text };
                true
            }
        }
    }

    /// Looks for the beginning of a call.
    fn find_call(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let is_next = matches!(self.state, State::Next);
        let is_start = is_next || matches!(self.state, State::Start);
        let is_anywhere = self.style.has_text_before();
        let headers = if is_next { &self.later } else { &self.headers };
        let mut places = self.pending.char_indices().map(|(at, _)| at);
        let may_begin = |at: &usize| {
            let is_one = |header: &Header| header.read(&self.pending[*at..]) != Read::None;
            (is_anywhere || is_start && *at == 0) && headers.iter().any(is_one)
        };
        let place = places.find(may_begin).unwrap_or(self.pending.len());
        if place > 0 {
            pieces.push(Piece::Text(self.pending.drain(..place).collect()));
            self.state = State::Text;
            return true;
        }
        let whole = headers.iter().find_map(|header| match header.read(&self.pending) {
            Read::Whole(length) => Some((header, length)),
            _ => None,
        });
        let Some((header, length)) = whole else {
            return false;
        };
        pieces.push(header.call(&self.pending, &self.tools));
        let parameters = &self.tools[header.tool].parameters;
        self.state = match self.style.arguments {
            Arguments::Object => State::Object(ObjectScan::default()),
            Arguments::Tags(tags) => {
                let scan = TaggedScan::new(tags, self.style.close, parameters.clone());
                State::Tagged(Box::new(scan))
            }
        };
        self.pending.drain(..length);
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    use serde_json::json;

    use super::*;

    fn splitter(style: Style) -> Splitter {
        let parameters =
            json!({"properties": {"animal": {"type": "string"}, "spoons": {"type": "integer"}}});
        let tools = ["feed", "feed_all"].map(|name| Callable {
            name: name.to_owned(),
            place: String::new(),
            parameters: parameters.clone(),
        });
        Splitter::new(Some(&Toolbox {
            style,
            marks: Vec::new(),
            prelude: None,
            tools: tools.into(),
            is_required: false,
            is_parallel: true,
        }))
    }

    /// What these parts of a text say, pieces of the same kind joined.
    pub(in super::super) fn pieces(style: Style, parts: &[&str]) -> Vec<Piece> {
        let mut splitter = splitter(style);
        let mut pieces: Vec<Piece> = parts.iter().flat_map(|part| splitter.push(part)).collect();
        pieces.extend(splitter.finish());
        pieces.into_iter().fold(Vec::new(), |mut joined: Vec<Piece>, piece| {
            match (joined.last_mut(), piece) {
                (Some(Piece::Text(before)), Piece::Text(text))
                | (Some(Piece::Arguments(before)), Piece::Arguments(text)) => *before += &text,
                (_, piece) => joined.push(piece),
            }
            joined
        })
    }

    /// The pieces of a text. Wherever it is cut, they are the same.
    fn split(style: Style, text: &str) -> Vec<Piece> {
        let whole = pieces(style, &[text]);
        for (at, _) in text.char_indices() {
            let (head, tail) = text.split_at(at);
            assert_eq!(pieces(style, &[head, tail]), whole, "{head} | {tail}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(pieces(style, &letters), whole);
        let config = Config { cases: 64, ..Config::default() };
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let lengths = prop::collection::vec(1..9usize, text.len() + 1);
        let cut = TestRunner::new_with_rng(config, random).run(&lengths, |lengths| {
            let mut rest = letters.as_slice();
            let parts = lengths.iter().map(|&length| {
                let (part, behind) = rest.split_at(length.min(rest.len()));
                rest = behind;
                part.concat()
            });
            let parts: Vec<String> = parts.collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            prop_assert_eq!(pieces(style, &parts), whole.clone());
            Ok(())
        });
        cut.unwrap();
        whole
    }

    /// A text has these calls, with their arguments, behind what comes `before` them.
    #[track_caller]
    pub(in super::super) fn assert_calls(
        style: Style,
        text: &str,
        before: &str,
        calls: &[(&str, &str)],
    ) {
        let found = split(style, text).into_iter().map(|piece| match piece {
            Piece::Call { name, .. } => Piece::Call { name, id: None },
            piece => piece,
        });
        let before = (!before.is_empty()).then(|| Piece::Text(before.to_owned()));
        let calls = calls.iter().flat_map(|(name, arguments)| {
            let arguments = Piece::Arguments((*arguments).to_owned());
            [
                Piece::Call { name: (*name).to_owned(), id: None },
                arguments,
            ]
        });
        let expected: Vec<Piece> = before.into_iter().chain(calls).collect();
        assert_eq!(found.collect::<Vec<Piece>>(), expected, "{text}");
    }

    /// A text has no call.
    #[track_caller]
    pub(in super::super) fn assert_text(style: Style, text: &str) {
        let expected = (!text.is_empty()).then(|| Piece::Text(text.to_owned()));
        assert_eq!(split(style, text), Vec::from_iter(expected));
    }

    #[test]
    fn a_call_alone_is_one_only_at_the_start() {
        let text = r#"{"name": "feed_all", "arguments": {"a": ["}", {"b": "\""}]}}"#;
        assert_calls(PLAIN, text, "", &[("feed_all", r#"{"a": ["}", {"b": "\""}]}"#)]);
        for text in [
            "",
            "é and ü",
            r#"{"name": "fee"#,
            r#"{"name": "sing", "arguments": {}}"#,
            r#"{"name": "feed", "arguments": 3}"#,
            r#"{"name": "feed", "arguments": [{}]}"#,
            r#"So {"name": "feed", "arguments": {}}"#,
        ] {
            assert_text(PLAIN, text);
        }
        let cut = r#"{"name": "feed", "arguments": {"a": "#;
        assert_calls(PLAIN, cut, "", &[("feed", r#"{"a": "#)]);
        let begun = Piece::Call { name: "feed".to_owned(), id: None };
        assert_eq!(split(PLAIN, r#"{"name": "feed", "arguments": "#), [begun]);
    }
}
