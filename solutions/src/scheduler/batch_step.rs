//! A capstone: the step of a batch, with the state that it needs.
//!
//! Why: four things change from step to step, and everything else follows from them: which tokens a
//! sequence has, how many of them were read, how many were drawn, and whether it runs. A sequence
//! decodes once a token was drawn for it, so that needs no field, and neither does the part of the
//! prompt that is left. Two lists in the order of arrival, those that run and those that wait,
//! answer every question of the plan.
//!
//! What it costs: a step goes through the running sequences a few times, which is nothing next to a
//! pass.
//!
//! A common wrong turn: a flag for each stage, such as `is_decoding`, and three places that have to
//! keep it right. Another is to go through the running sequences and the chunks side by side, and to
//! remove what has ended on the way: the next chunk then belongs to another sequence.

use std::collections::VecDeque;

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub id: u64,
    pub prompt: Vec<u32>,
    pub max_tokens: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub token_budget: usize,
    pub max_running: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub id: u64,
    pub start: usize,
    pub tokens: Vec<u32>,
    pub wants_logits: bool,
}

pub type Pass<'a> = dyn FnMut(&[Chunk]) -> Vec<Vec<f32>> + 'a;

pub type Sample<'a> = dyn FnMut(u64, &[f32]) -> u32 + 'a;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finish {
    Eos,
    Length,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Token { id: u64, token: u32 },
    End { id: u64, finish: Finish },
}

/// A sequence that runs or waits.
struct Sequence {
    id: u64,
    /// The prompt, and what was drawn.
    tokens: Vec<u32>,
    /// How many of them were read.
    read: usize,
    /// How many were drawn. Before the first of them, the prompt is being read.
    drawn: usize,
    max_tokens: usize,
}

impl Sequence {
    /// The first tokens that are unread, at most so many.
    fn chunk(&self, most: usize) -> Chunk {
        let end = self.tokens.len().min(self.read.saturating_add(most));
        Chunk {
            id: self.id,
            start: self.read,
            tokens: self.tokens[self.read..end].to_vec(),
            wants_logits: end == self.tokens.len(),
        }
    }
}

/// Sequences that share the passes of a model. Each list is in the order of arrival.
pub struct Batch {
    limits: Limits,
    eos: u32,
    running: Vec<Sequence>,
    waiting: VecDeque<Sequence>,
}

impl Batch {
    pub fn new(limits: Limits, eos: u32) -> Self {
        Self { limits, eos, running: Vec::new(), waiting: VecDeque::new() }
    }

    pub fn submit(&mut self, request: Request) {
        let Request { id, prompt, max_tokens } = request;
        self.waiting.push_back(Sequence { id, tokens: prompt, read: 0, drawn: 0, max_tokens });
    }

    pub fn leave(&mut self, id: u64) {
        self.running.retain(|sequence| sequence.id != id);
        self.waiting.retain(|sequence| sequence.id != id);
    }

    pub fn step(&mut self, pass: &mut Pass<'_>, sample: &mut Sample<'_>) -> Vec<Event> {
        let chunks = self.plan();
        if chunks.is_empty() {
            return Vec::new();
        }
        let mut logits = pass(&chunks).into_iter();
        let mut events = Vec::new();
        for chunk in &chunks {
            let at = self.running.iter().position(|sequence| sequence.id == chunk.id);
            let at = at.expect("a chunk is a running sequence's");
            self.running[at].read += chunk.tokens.len();
            if chunk.wants_logits {
                let token = sample(chunk.id, &logits.next().expect("a row for each that wants it"));
                self.go_on(at, token, &mut events);
            }
        }
        events
    }

    fn plan(&mut self) -> Vec<Chunk> {
        let (decoding, reading): (Vec<&Sequence>, Vec<&Sequence>) =
            self.running.iter().partition(|sequence| sequence.drawn > 0);
        let mut chunks: Vec<Chunk> = decoding.iter().map(|sequence| sequence.chunk(1)).collect();
        let mut left = self.limits.token_budget.saturating_sub(chunks.len()).max(1);
        for sequence in reading {
            if left > 0 {
                let chunk = sequence.chunk(left);
                left -= chunk.tokens.len();
                chunks.push(chunk);
            }
        }
        while left > 0 && self.running.len() < self.limits.max_running {
            let Some(sequence) = self.waiting.pop_front() else {
                break;
            };
            let chunk = sequence.chunk(left);
            left -= chunk.tokens.len();
            chunks.push(chunk);
            self.running.push(sequence);
        }
        chunks
    }

    /// A token was drawn for a running sequence, which may end with it.
    fn go_on(&mut self, at: usize, token: u32, events: &mut Vec<Event>) {
        let sequence = &mut self.running[at];
        let id = sequence.id;
        let mut finish = Some(Finish::Eos);
        if token != self.eos {
            sequence.tokens.push(token);
            sequence.drawn += 1;
            events.push(Event::Token { id, token });
            finish = (sequence.drawn == sequence.max_tokens).then_some(Finish::Length);
        }
        if let Some(finish) = finish {
            events.push(Event::End { id, finish });
            self.running.remove(at);
        }
    }
}
