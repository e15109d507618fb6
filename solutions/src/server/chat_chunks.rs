//! The chunks of a streamed chat answer: roles, finish reasons and usage.
//!
//! Why: a client builds the messages by adding deltas, so each delta has only what is new, and the
//! role is new once. The finish reason comes in a separate chunk: then the client knows that the
//! text is complete, including the part that was held back. `usage` belongs to the request and not
//! to a choice. It counts one prompt, and the tokens of all choices, so it can be known only when
//! the last of them has ended, and there is no choice to put it in.
//!
//! What it costs: three chunks for each choice that carry no text, next to one for each piece of
//! text.
//!
//! A common wrong turn: sending the usage with the end of each choice, or counting the prompt once
//! for each. With `n` of 1, it doesn't show. Another: reporting `"stop"` for everything that ended.
//! A program that asks for JSON then learns only from the text that it was cut off.

use std::mem;

/// What the engine reports about choice `index`. With `n` above 1 the choices come interleaved.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text. It is empty if all of it is held back for now.
    Text { index: usize, text: String },
    /// The choice has ended. No more events come from it.
    End {
        index: usize,
        /// What was still held back.
        text: String,
        reason: Reason,
        /// How many tokens the choice has.
        tokens: usize,
    },
}

/// Why a choice has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The model chose its end-of-sequence token.
    Eos,
    /// The text contained a stop string.
    StopString,
    /// It has `max_tokens` tokens.
    Length,
    /// The context is full.
    Context,
}

/// One `chat.completion.chunk`, without the fields that are the same in all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub choices: Vec<Choice>,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub index: usize,
    pub delta: Delta,
    /// `"stop"` or `"length"`, in the last chunk of the choice.
    pub finish_reason: Option<&'static str>,
}

/// The new part of a message. `Delta::default()` is the empty delta, `{}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delta {
    pub role: Option<&'static str>,
    pub content: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub total_tokens: usize,
}

/// The answer to one request, in chunks. The fields are a proposal.
#[derive(Debug)]
pub struct ChatStream {
    prompt_tokens: usize,
    include_usage: bool,
    /// For each choice, whether its role has been sent.
    begun: Vec<bool>,
    /// How many choices have not ended.
    open: usize,
    completion_tokens: usize,
}

impl ChatStream {
    /// `n` choices for one prompt of so many tokens. `include_usage` comes from `stream_options`.
    pub fn new(n: usize, prompt_tokens: usize, include_usage: bool) -> Self {
        Self {
            prompt_tokens,
            include_usage,
            begun: vec![false; n],
            open: n,
            completion_tokens: 0,
        }
    }

    /// The chunks that an event causes, in order. There may be none, and each has one choice at
    /// most.
    pub fn push(&mut self, event: Event) -> Vec<Chunk> {
        let (index, text, end) = match event {
            Event::Text { index, text } => (index, text, None),
            Event::End { index, text, reason, tokens } => (index, text, Some((reason, tokens))),
        };
        let mut chunks = Vec::new();
        if !mem::replace(&mut self.begun[index], true) {
            let delta = Delta { role: Some("assistant"), content: Some(String::new()) };
            chunks.push(chunk(index, delta, None));
        }
        if !text.is_empty() {
            let delta = Delta { role: None, content: Some(text) };
            chunks.push(chunk(index, delta, None));
        }
        if let Some((reason, tokens)) = end {
            chunks.push(chunk(index, Delta::default(), Some(finish_reason(reason))));
            self.completion_tokens += tokens;
            self.open -= 1;
            chunks.extend(self.usage());
        }
        chunks
    }

    /// The chunk with the usage, if it is due.
    fn usage(&self) -> Option<Chunk> {
        let usage = Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            total_tokens: self.prompt_tokens + self.completion_tokens,
        };
        let due = self.include_usage && self.open == 0;
        due.then(|| Chunk { choices: Vec::new(), usage: Some(usage) })
    }
}

fn chunk(index: usize, delta: Delta, finish_reason: Option<&'static str>) -> Chunk {
    Chunk {
        choices: vec![Choice { index, delta, finish_reason }],
        usage: None,
    }
}

fn finish_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Eos | Reason::StopString => "stop",
        Reason::Length | Reason::Context => "length",
    }
}
