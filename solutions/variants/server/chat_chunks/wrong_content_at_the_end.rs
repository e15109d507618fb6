//! The last delta has an empty content.

use std::mem;

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text. It is empty where all of it is held back for now.
    Text { index: usize, text: String },
    /// The choice has ended. Nothing more comes of it.
    End {
        index: usize,
        /// What was still held back.
        text: String,
        reason: Reason,
        /// How many tokens the choice has.
        tokens: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    Eos,
    StopString,
    Length,
    Context,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub choices: Vec<Choice>,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub index: usize,
    pub delta: Delta,
    pub finish_reason: Option<&'static str>,
}

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

#[derive(Debug)]
pub struct ChatStream {
    prompt_tokens: usize,
    include_usage: bool,
    begun: Vec<bool>,
    open: usize,
    completion_tokens: usize,
}

impl ChatStream {
    pub fn new(n: usize, prompt_tokens: usize, include_usage: bool) -> Self {
        Self {
            prompt_tokens,
            include_usage,
            begun: vec![false; n],
            open: n,
            completion_tokens: 0,
        }
    }

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
            chunks.push(chunk(
                index,
                Delta { role: None, content: Some(String::new()) },
                Some(finish_reason(reason)),
            ));
            self.completion_tokens += tokens;
            self.open -= 1;
            chunks.extend(self.usage());
        }
        chunks
    }

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
