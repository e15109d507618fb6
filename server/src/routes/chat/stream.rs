//! The stream of an answer.

use slowburn::inference::TokenOutput;

use super::{ASSISTANT, Answer, finish};
use crate::sse::{self, EventResult};
use crate::tools::{AnswerSplitter, Piece, call_id};
use crate::updates::Update;
use crate::wire::{
    ChatChunkChoice, ChatLogprobs, Chunk, Delta, FunctionDelta, ToolCallDelta, ToolKind,
    WireFinish, WireUsage,
};

/// Writes the chunks of a stream.
pub(super) struct Encoder {
    answer: Answer,
    choices: Vec<Choice>,
    usage: WireUsage,
    wants_usage: bool,
}

/// How far a choice is.
#[derive(Clone)]
struct Choice {
    begun: bool,
    splitter: AnswerSplitter,
    /// The calls that have begun.
    calls: usize,
}

impl Encoder {
    pub(super) fn new(answer: Answer, choices: usize, wants_usage: bool) -> Self {
        let choice = Choice { begun: false, splitter: answer.splitter.clone(), calls: 0 };
        Self {
            answer,
            choices: vec![choice; choices],
            usage: WireUsage::default(),
            wants_usage,
        }
    }

    fn chunk(&self, choices: Vec<ChatChunkChoice>, usage: Option<WireUsage>) -> EventResult {
        sse::json(&Chunk {
            id: self.answer.id.clone(),
            object: "chat.completion.chunk",
            created: self.answer.created,
            model: self.answer.model.clone(),
            choices,
            usage: self.wants_usage.then_some(usage),
        })
    }

    fn choice(
        &self,
        index: usize,
        delta: Delta,
        logprobs: Option<ChatLogprobs>,
        finish_reason: Option<WireFinish>,
    ) -> EventResult {
        self.chunk(vec![ChatChunkChoice { index, delta, logprobs, finish_reason }], None)
    }

    /// The role, before the first token of a choice.
    fn begin(&mut self, index: usize) -> Option<EventResult> {
        let is_new = !std::mem::replace(&mut self.choices[index].begun, true);
        let delta = Delta {
            role: Some(ASSISTANT),
            content: Some(String::new()),
            ..Delta::default()
        };
        is_new.then(|| self.choice(index, delta, None, None))
    }

    /// What a token of a choice adds to it. Its log-probability goes with the first part, and with an
    /// empty one where it is not yet clear what the token says.
    fn token(&mut self, index: usize, token: &TokenOutput) -> Vec<EventResult> {
        let mut logprobs = self.answer.logprobs(std::slice::from_ref(token));
        let pieces = self.choices[index].splitter.push(token);
        let mut deltas: Vec<Delta> =
            pieces.into_iter().map(|piece| self.choices[index].delta(piece)).collect();
        if deltas.is_empty() && logprobs.is_some() {
            deltas.push(Delta { content: Some(String::new()), ..Delta::default() });
        }
        let event = |delta| self.choice(index, delta, logprobs.take(), None);
        deltas.into_iter().map(event).collect()
    }
}

impl Choice {
    fn delta(&mut self, piece: Piece) -> Delta {
        match piece {
            Piece::Thought(text) => Delta { reasoning_content: Some(text), ..Delta::default() },
            Piece::Text(text) => Delta { content: Some(text), ..Delta::default() },
            Piece::Call { name, id } => {
                self.calls += 1;
                let id = Some(id.unwrap_or_else(call_id));
                self.call(id, FunctionDelta { name: Some(name), arguments: String::new() })
            }
            Piece::Arguments(text) => {
                self.call(None, FunctionDelta { name: None, arguments: text })
            }
        }
    }

    /// A part of the call that has begun last.
    fn call(&self, id: Option<String>, function: FunctionDelta) -> Delta {
        let index = self.calls.saturating_sub(1);
        let kind = id.is_some().then_some(ToolKind::Function);
        let call = ToolCallDelta { index, id, kind, function };
        Delta { tool_calls: vec![call], ..Delta::default() }
    }
}

// ANCHOR: encoder
impl sse::Encoder for Encoder {
    fn update(&mut self, index: usize, update: Update) -> Vec<EventResult> {
        let mut events: Vec<_> = self.begin(index).into_iter().collect();
        match update {
            Update::Prompt(_) => {}
            Update::Token(token) => events.extend(self.token(index, &token)),
            Update::End(completion) => {
                self.usage.add(&completion.usage, index == 0);
                let choice = &mut self.choices[index];
                let rest = choice.splitter.finish();
                self.usage.add_thoughts(choice.splitter.thought_tokens());
                let rest: Vec<Delta> = rest.into_iter().map(|piece| choice.delta(piece)).collect();
                let has_calls = choice.calls > 0;
                let reason = WireFinish::of(&completion.finish_reason);
                let reason = reason.map(|reason| finish(reason, has_calls));
                let delta = |delta| self.choice(index, delta, None, None);
                events.extend(rest.into_iter().map(delta));
                events.push(self.choice(index, Delta::default(), None, reason));
            }
        }
        events
    }

    fn end(&mut self) -> Vec<EventResult> {
        let usage = self.wants_usage.then(|| self.chunk(Vec::new(), Some(self.usage)));
        usage.into_iter().chain([sse::done()]).collect()
    }
}
// ANCHOR_END: encoder
