//! What a reasoning model thinks, and what it says.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Thought(String),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but white space has come.
    Start,
    Thought,
    Text,
}

/// Divides an answer, as it comes, into what stands in `<think>` at its beginning, and what follows.
#[derive(Debug, Clone)]
pub struct Thoughts {
    place: Place,
    /// What may be a part of a tag.
    held: String,
    /// Whether white space that comes next only sets the parts off from each other.
    trims: bool,
}

impl Thoughts {
    /// For the answer to a prompt with this end: some templates begin the thought themselves.
    pub fn after(prompt: &str) -> Self {
        let is_inside = prompt.trim_end().ends_with(OPEN);
        let place = if is_inside {
            Place::Thought
        } else {
            Place::Start
        };
        Self { place, held: String::new(), trims: is_inside }
    }

    /// Whether the model is thinking.
    pub fn is_inside(&self) -> bool {
        self.place == Place::Thought
    }

    /// Divides the next piece.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        loop {
            match self.place {
                Place::Start => {
                    let begun = self.held.trim_start();
                    if let Some(rest) = begun.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        (self.place, self.trims) = (Place::Thought, true);
                    } else if OPEN.starts_with(begun) {
                        return pieces;
                    } else {
                        self.place = Place::Text;
                    }
                }
                Place::Thought => match self.held.split_once(CLOSE) {
                    Some((thought, rest)) => {
                        let (thought, rest) = (thought.to_owned(), rest.to_owned());
                        pieces.extend(self.piece(thought));
                        self.held = rest;
                        (self.place, self.trims) = (Place::Text, true);
                    }
                    None => {
                        let settled = self.held.len() - tag_begun(&self.held);
                        let held = self.held.split_off(settled);
                        let thought = std::mem::replace(&mut self.held, held);
                        pieces.extend(self.piece(thought));
                        return pieces;
                    }
                },
                Place::Text => {
                    let text = std::mem::take(&mut self.held);
                    pieces.extend(self.piece(text));
                    return pieces;
                }
            }
        }
    }

    /// What was held back.
    pub fn finish(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        self.piece(held)
    }

    fn piece(&mut self, text: String) -> Option<Piece> {
        let text = if self.trims {
            text.trim_start().to_owned()
        } else {
            text
        };
        if text.is_empty() {
            return None;
        }
        self.trims = false;
        Some(match self.place {
            Place::Thought => Piece::Thought(text),
            Place::Start | Place::Text => Piece::Text(text),
        })
    }
}

/// How many bytes at the end may begin the closing tag.
fn tag_begun(text: &str) -> usize {
    let lengths = (1..CLOSE.len()).rev();
    lengths.into_iter().find(|&length| text.ends_with(&CLOSE[..length])).unwrap_or(0)
}
