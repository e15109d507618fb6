//! One text of a batch.

use std::mem;

use crate::blocks::BLOCK_SIZE;
use crate::broken::call;
use crate::guesses;
use crate::output::Text;
use crate::parts::{Emit, Emitted, End, Holder, Parts, Planned};
use crate::sampler::Sampler;
use crate::story::{Request, Story};
use crate::vocabulary::Vocabulary;

/// A text that is asked for.
pub struct Submission {
    pub request: Request,
    /// The ids of its prompt.
    pub prompt: Vec<u32>,
    /// Where its pieces go. It is dropped when the text has ended.
    pub sink: Box<dyn Emit>,
    /// Gets the whole text, before the sink is dropped.
    pub done: Box<dyn FnOnce(Story)>,
}

/// A text that waits, runs or is paused.
pub struct Sequence {
    /// No two that are in a batch at the same time have the same.
    pub name: char,
    /// The smaller, the older.
    pub arrival: usize,
    /// Its prompt, and what was drawn.
    pub tokens: Vec<u32>,
    /// How many of them have their keys and values in `blocks`.
    pub computed: usize,
    pub blocks: Vec<u32>,
    /// What has to be computed before the next token is drawn: its prompt, or all of its tokens where it
    /// had lost its blocks.
    pub to_read: usize,
    /// What it found in the prefix cache. The plan does not count that.
    found: usize,
    prompt: usize,
    request: Request,
    sampler: Sampler,
    /// None once it has ended.
    text: Option<Text>,
    streamed: String,
    /// What the reader has not taken.
    held: String,
    pub end: Option<End>,
    sink: Box<dyn Emit>,
    done: Box<dyn FnOnce(Story)>,
}

/// What became of the piece for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    HasRead,
    IsBehind,
    IsGone,
}

impl Sequence {
    pub fn new(parts: &Parts, name: char, arrival: usize, submission: Submission) -> Self {
        let Submission { request, prompt, sink, done } = submission;
        Self {
            name,
            arrival,
            to_read: prompt.len(),
            prompt: prompt.len(),
            tokens: prompt,
            computed: 0,
            blocks: Vec::new(),
            found: 0,
            sampler: Sampler::new(request.temperature, request.top_p, request.seed),
            text: Some(Text::new(parts, &request.stops)),
            request,
            streamed: String::new(),
            held: String::new(),
            end: None,
            sink,
            done,
        }
    }

    /// As the plan sees it, where so many more positions are found in the prefix cache.
    pub fn planned(&self, found: usize) -> Planned {
        let found = self.found + found;
        Planned {
            name: self.name,
            prompt: self.to_read - found,
            computed: self.computed.saturating_sub(found),
        }
    }

    /// As preemption sees it, with these of its blocks.
    pub fn holder(&self, blocks: Vec<u32>) -> Holder {
        Holder {
            name: self.name,
            arrival: self.arrival,
            tokens: self.tokens.clone(),
            computed: self.computed,
            blocks,
        }
    }

    /// How many blocks it lacks for so many positions.
    pub fn lacks(&self, positions: usize) -> usize {
        positions.div_ceil(BLOCK_SIZE).saturating_sub(self.blocks.len())
    }

    /// It is admitted: with the blocks that the prefix cache has, and more for the rest of its prompt.
    pub fn join(&mut self, found: Vec<u32>) {
        self.found = found.len() * BLOCK_SIZE;
        self.computed = self.found;
        self.blocks = found;
    }

    /// It loses its blocks, and keeps its tokens.
    pub fn give_up(&mut self) -> Vec<u32> {
        self.to_read = self.tokens.len();
        (self.computed, self.found) = (0, 0);
        mem::take(&mut self.blocks)
    }

    /// Draws the next token, and says how the reader is. Where the text has ended, `end` says why.
    pub fn draw(
        &mut self,
        parts: &Parts,
        vocabulary: &Vocabulary,
        logits: &[f32],
        ends: Ends,
    ) -> Reader {
        let token = self.sampler.sample(parts, logits);
        if token == ends.eos {
            self.end = Some(End::Eos);
            return Reader::HasRead;
        }
        self.tokens.push(token);
        let bytes = vocabulary.bytes_of(token);
        let piece = self.text.as_mut().map_or(String::new(), |text| text.push(bytes));
        self.streamed.push_str(&piece);
        self.held.push_str(&piece);
        if self.text.as_ref().is_some_and(|text| text.stopped) {
            // As at the end of the model's own, the text has no token of what ended it.
            self.tokens.pop();
            self.end = Some(End::Eos);
        } else if self.tokens.len() - self.prompt == self.request.max_tokens {
            self.end = Some(End::Length);
        } else if self.tokens.len() == ends.context {
            self.end = Some(End::Context);
        }
        self.hand_over()
    }

    /// Offers the reader what it has not taken.
    pub fn hand_over(&mut self) -> Reader {
        if self.held.is_empty() {
            return Reader::HasRead;
        }
        match call("token_stream", || self.sink.emit(mem::take(&mut self.held))) {
            Emitted::Sent => Reader::HasRead,
            Emitted::Gone => Reader::IsGone,
            Emitted::Behind(piece) => {
                self.held = piece;
                Reader::IsBehind
            }
        }
    }

    /// The text has ended: what was held back comes now.
    pub fn finish_text(&mut self) {
        let rest = self.text.take().map_or(String::new(), Text::finish);
        self.streamed.push_str(&rest);
        self.held.push_str(&rest);
    }

    /// The reader has everything: the story is done, and the stream ends.
    pub fn close(self, parts: &Parts, vocabulary: &Vocabulary) {
        let text = vocabulary.text(parts, &self.tokens);
        let (prompt, ids) = self.tokens.split_at(self.prompt);
        (self.done)(Story {
            prompt: prompt.to_vec(),
            ids: ids.to_vec(),
            end: self.end.unwrap_or(End::Length),
            streamed: self.streamed,
            text,
            probabilities: self.sampler.probabilities,
            margin: self.sampler.margin,
            guesses: guesses::Counts::default(),
        });
    }
}

/// What else may end a text.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    pub eos: u32,
    pub context: usize,
}
