//! What a reasoning model thinks, and what it answers.

use super::Tokenizer;
use crate::constrained::Reasoning;

/// Around a thought, in the words of Qwen, DeepSeek, GLM and SmolLM3.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The tokens of Harmony, the format of gpt-oss. A message begins with `<|start|>`, its author, `<|channel|>` and
/// the channel; its text follows `<|message|>`.
const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
const CONSTRAIN: &str = "<|constrain|>";
const ENDS: [&str; 3] = ["<|end|>", "<|call|>", "<|return|>"];
/// The author of an answer, and the channels for thoughts and for answers.
const ASSISTANT: &str = "assistant";
const ANALYSIS: &str = "analysis";
const FINAL: &str = "final";

/// In a header: the author of the message, or its reader, is the function whose name follows.
const TO: &str = "to=functions.";

/// The longest that stands before the text of a message in Harmony. What is longer has no end, and is text.
const MAX_HEADER: usize = 256;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPiece {
    /// What the model thinks before it answers.
    Thought(String),
    /// What it answers.
    Text(String),
    /// In a message to a function, as Harmony has them: it calls the function of this name.
    Call(String),
    /// More of the arguments of the call that has begun last.
    Arguments(String),
}

/// How a model tells its thoughts from its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// It does not.
    None,
    /// One thought between tags, at the beginning.
    Tags,
    /// Messages in channels.
    Channels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but white space has come.
    Start,
    Thought,
    Text,
    /// In a message to a function.
    Call,
    /// Between the text of two messages.
    Header,
}

/// Divides an answer, as it comes, into what the model thinks and what it says.
///
/// The marks between the two are in neither, and white space around them is removed. However the text is
/// cut into pieces, the parts are the same: what may be the beginning of a mark is held back.
///
/// ```
/// use slowburn::tokenizer::{AnswerPiece, Thoughts};
///
/// // The template has opened the thought.
/// let mut thoughts = Thoughts::in_tags("<|assistant|><think>\n");
/// assert_eq!(thoughts.push("A fox?</th"), [AnswerPiece::Thought("A fox?".to_owned())]);
/// assert!(thoughts.is_inside());
/// assert_eq!(thoughts.push("ink>\n\nYes."), [AnswerPiece::Text("Yes.".to_owned())]);
/// ```
#[derive(Debug, Clone)]
pub struct Thoughts {
    marks: Marks,
    place: Place,
    /// What may be a part of a mark, or white space before one.
    held: String,
    /// Whether white space that comes next only sets the parts off from each other.
    trims: bool,
    /// Whether a thought has come, and a text.
    has_come: [bool; 2],
    /// Whether the next piece belongs to another message.
    is_new: bool,
    /// The marks that are tokens without a text of their own.
    silent: Vec<(u32, &'static str)>,
    /// The tokens of a thought that the model opens itself.
    reasoning: Option<Reasoning>,
    tokens: usize,
}

impl Thoughts {
    fn new(marks: Marks, place: Place) -> Self {
        Self {
            marks,
            place,
            held: String::new(),
            trims: place == Place::Thought,
            has_come: [false; 2],
            is_new: false,
            silent: Vec::new(),
            reasoning: None,
            tokens: 0,
        }
    }

    /// For a model that never thinks: all is text.
    pub fn none() -> Self {
        Self::new(Marks::None, Place::Text)
    }

    /// For thoughts in `<think>`, after a prompt with this end: some templates open the thought themselves, and
    /// close it again where there is to be none.
    pub fn in_tags(prompt: &str) -> Self {
        let prompt = prompt.trim_end();
        let place = if prompt.ends_with(OPEN) {
            Place::Thought
        } else if prompt.ends_with(CLOSE) {
            Place::Text
        } else {
            Place::Start
        };
        Self::new(Marks::Tags, place)
    }

    /// For thoughts in the channel `analysis` of Harmony.
    pub fn in_channels() -> Self {
        Self::new(Marks::Channels, Place::Text)
    }

    /// Whether the model is thinking.
    pub fn is_inside(&self) -> bool {
        self.place == Place::Thought
    }

    /// Whether the model is answering, as far as is known.
    pub fn is_outside(&self) -> bool {
        matches!(self.place, Place::Start | Place::Text)
    }

    /// Whether each mark is a token, so that a thought can have a budget.
    pub fn has_tokens(&self) -> bool {
        self.reasoning.is_some()
    }

    /// The tokens of the thought that may come next, or goes on; None for a text that has no room for one, and for
    /// a model whose marks are no tokens.
    pub fn reasoning(&self) -> Option<Reasoning> {
        let reasoning = self.reasoning.as_ref()?;
        match (self.marks, self.place) {
            (Marks::Tags, Place::Thought) => Some(reasoning.begun()),
            (Marks::Tags, Place::Start) | (Marks::Channels, Place::Text) => Some(reasoning.clone()),
            _ => None,
        }
    }

    /// How many tokens were thoughts, with the marks at their borders.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Divides the next token.
    pub fn push_token(&mut self, id: u32, text: &str) -> Vec<AnswerPiece> {
        let was_inside = self.is_inside();
        let mark = self.silent.iter().find(|(silent, _)| *silent == id).map(|&(_, mark)| mark);
        let mut pieces = self.push(mark.unwrap_or_default());
        pieces.extend(self.push(text));
        self.tokens += usize::from(was_inside || self.is_inside());
        pieces
    }

    /// Goes past a part of the answer that the prompt has already.
    pub fn skip(&mut self, text: &str) {
        self.push(text);
        self.held.clear();
    }

    /// Divides the next piece.
    pub fn push(&mut self, text: &str) -> Vec<AnswerPiece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// What was held back.
    pub fn finish(&mut self) -> Option<AnswerPiece> {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Header => None,
            Place::Thought => self.piece(held.trim_end()),
            Place::Start | Place::Text | Place::Call => self.piece(&held),
        }
    }

    /// Whether there may be more to divide.
    fn step(&mut self, pieces: &mut Vec<AnswerPiece>) -> bool {
        match self.place {
            Place::Start => {
                let begun = self.held.trim_start();
                if let Some(rest) = begun.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    (self.place, self.trims) = (Place::Thought, true);
                } else if OPEN.starts_with(begun) {
                    return false;
                } else {
                    self.place = Place::Text;
                }
                true
            }
            Place::Thought | Place::Text | Place::Call => {
                let marks = self.marks_here();
                let Some((at, mark)) = first(&self.held, marks) else {
                    let held = self.held.split_off(self.settled(marks));
                    let settled = std::mem::replace(&mut self.held, held);
                    pieces.extend(self.piece(&settled));
                    return false;
                };
                let before: String = self.held.drain(..at).collect();
                let before = if self.is_inside() {
                    before.trim_end()
                } else {
                    before.as_str()
                };
                pieces.extend(self.piece(before));
                match mark {
                    CHANNEL => {} // a part of the header
                    mark => drop(self.held.drain(..mark.len())),
                }
                match mark {
                    START | CHANNEL => self.place = Place::Header,
                    MESSAGE => {} // without a header, nothing changes
                    _ => (self.place, self.trims) = (Place::Text, self.marks == Marks::Tags),
                }
                true
            }
            Place::Header => self.step_in_header(pieces),
        }
    }

    fn step_in_header(&mut self, pieces: &mut Vec<AnswerPiece>) -> bool {
        let found = first(&self.held, &[MESSAGE, ENDS[0], ENDS[1], ENDS[2]]);
        let Some((at, mark)) = found.filter(|(at, _)| *at <= MAX_HEADER) else {
            // A mark that begins in time is whole by then.
            let is_endless = self.held.len() >= MAX_HEADER + MESSAGE.len();
            if is_endless {
                let length = if self.held.starts_with(CHANNEL) {
                    CHANNEL.len()
                } else {
                    0
                };
                self.held.drain(..length);
                self.place = Place::Text;
            }
            return is_endless;
        };
        let header = &self.held[..at];
        let channel = header.split_once(CHANNEL).map_or("", |(_, channel)| channel);
        let is_thought = channel.split_whitespace().next() == Some(ANALYSIS);
        let reader = header
            .split_once(TO)
            .and_then(|(_, reader)| reader.split(|c: char| c == '<' || c.is_whitespace()).next());
        self.place = match (mark, reader) {
            (MESSAGE, Some(name)) => {
                pieces.push(AnswerPiece::Call(name.to_owned()));
                Place::Call
            }
            (MESSAGE, None) if is_thought => Place::Thought,
            _ => Place::Text,
        };
        self.is_new = mark == MESSAGE;
        self.held.drain(..at + mark.len());
        true
    }

    /// The marks that end the part that has begun.
    fn marks_here(&self) -> &'static [&'static str] {
        match (self.marks, self.place) {
            (Marks::Tags, Place::Thought) => &[CLOSE],
            (Marks::Channels, _) => &[START, CHANNEL, MESSAGE, ENDS[0], ENDS[1], ENDS[2]],
            _ => &[],
        }
    }

    /// How many bytes are no part of a mark, nor white space before one.
    fn settled(&self, marks: &[&str]) -> usize {
        let held = &self.held;
        let begun = |mark: &&str| {
            (1..mark.len()).rev().find(|&length| held.ends_with(&mark[..length])).unwrap_or(0)
        };
        let settled = &held[..held.len() - marks.iter().map(begun).max().unwrap_or(0)];
        if self.is_inside() {
            settled.trim_end().len()
        } else {
            settled.len()
        }
    }

    fn piece(&mut self, text: &str) -> Option<AnswerPiece> {
        let text = if self.trims { text.trim_start() } else { text };
        if text.is_empty() {
            return None;
        }
        self.trims = false;
        if self.place == Place::Call {
            return Some(AnswerPiece::Arguments(text.to_owned()));
        }
        let is_thought = self.is_inside();
        let has_come = std::mem::replace(&mut self.has_come[usize::from(is_thought)], true);
        // A message behind another of the same kind is a paragraph.
        let is_paragraph = std::mem::take(&mut self.is_new) && has_come;
        let text = format!("{}{text}", if is_paragraph { "\n\n" } else { "" });
        Some(if is_thought {
            AnswerPiece::Thought(text)
        } else {
            AnswerPiece::Text(text)
        })
    }
}

/// The first of the marks in a text, and where it begins.
fn first(text: &str, marks: &[&'static str]) -> Option<(usize, &'static str)> {
    let found = marks.iter().filter_map(|mark| Some((text.find(mark)?, *mark)));
    found.min_by_key(|(at, _)| *at)
}

impl Tokenizer {
    /// What divides the answer to a prompt into thoughts and text, by the marks that the model has: those in
    /// its chat template or its vocabulary.
    pub fn thoughts_after(&self, prompt: &[u32]) -> Thoughts {
        let template = self.chat_template.as_ref();
        let has = |mark: &str| {
            self.id(mark).is_some() || template.is_some_and(|it| it.source().contains(mark))
        };
        let silent = |marks: &[&'static str]| {
            let silent = |mark: &&'static str| Some((self.special_id(mark)?, *mark));
            marks.iter().filter_map(silent).collect::<Vec<(u32, &'static str)>>()
        };
        if has(CHANNEL) && has(MESSAGE) {
            let silent = silent(&[
                START, CHANNEL, MESSAGE, CONSTRAIN, ENDS[0], ENDS[1], ENDS[2],
            ]);
            // A header that has begun is for the model to end.
            let last = prompt.iter().rev().find(|id| silent.iter().any(|(mark, _)| mark == *id));
            let begins = last.is_some_and(|id| self.id(START) == Some(*id));
            let reasoning = if begins { self.in_channels() } else { None };
            return Thoughts { silent, reasoning, ..Thoughts::in_channels() };
        }
        if !has(OPEN) && !has(CLOSE) {
            return Thoughts::none();
        }
        let silent = silent(&[OPEN, CLOSE]);
        let text = |id: &u32| {
            let mark = silent.iter().find(|(silent, _)| silent == id);
            mark.map_or_else(|| self.decode(&[*id]).unwrap_or_default(), |(_, it)| (*it).to_owned())
        };
        let end: String = prompt[prompt.len().saturating_sub(8)..].iter().map(text).collect();
        Thoughts { silent, reasoning: self.in_tags(), ..Thoughts::in_tags(&end) }
    }

    /// The tokens of a thought in tags. Some models begin a line before it.
    fn in_tags(&self) -> Option<Reasoning> {
        let (open, close) = (self.id(OPEN)?, self.id(CLOSE)?);
        let line = self.encode_bare_text("\n").ok().filter(|ids| ids.len() == 1);
        let behind_line = line.map(|line| [&line[..], &[open]].concat());
        Some(Reasoning::new(behind_line.into_iter().chain([vec![open]]).collect(), close))
    }

    /// The tokens of a thought in a channel.
    fn in_channels(&self) -> Option<Reasoning> {
        let (start, channel, message) = (self.id(START)?, self.id(CHANNEL)?, self.id(MESSAGE)?);
        let [author, analysis, answer] = [ASSISTANT, ANALYSIS, FINAL].map(|name| self.id(name));
        let reasoning = Reasoning::new(vec![vec![channel, analysis?, message]], self.id(ENDS[0])?);
        Some(reasoning.with_lead(vec![start, author?], vec![channel, answer?, message]))
    }
}
