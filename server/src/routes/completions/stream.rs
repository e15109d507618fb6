//! The stream of a completion.

use std::sync::Arc;

use slowburn::sampling::TokenLogprobs;

use super::Shape;
use super::logprobs::push_tokens;
use crate::service::Service;
use crate::sse::{self, EventResult};
use crate::updates::Update;
use crate::wire::{Chunk, CompletionChoice, CompletionLogprobs, WireFinish, WireUsage};

/// Writes the chunks of a stream.
pub(super) struct Encoder {
    service: Arc<Service>,
    shape: Shape,
    /// Which choices have begun.
    begun: Vec<bool>,
    /// Where the next token of each choice begins, in characters.
    offsets: Vec<usize>,
    usage: WireUsage,
    wants_usage: bool,
}

impl Encoder {
    /// For `count` choices.
    pub(super) fn new(
        service: Arc<Service>,
        shape: Shape,
        count: usize,
        wants_usage: bool,
    ) -> Self {
        let length = |index: usize| {
            let prompt = &shape.prompts[index / shape.n];
            shape.echo(prompt).chars().count()
        };
        let offsets = (0..count).map(length).collect();
        let (begun, usage) = (vec![false; count], WireUsage::default());
        Self { service, shape, begun, offsets, usage, wants_usage }
    }

    fn chunk(&self, choices: Vec<CompletionChoice>, usage: Option<WireUsage>) -> EventResult {
        let Shape { id, created, model, .. } = &self.shape;
        sse::json(&Chunk {
            id: id.clone(),
            object: "text_completion",
            created: *created,
            model: model.clone(),
            choices,
            usage: self.wants_usage.then_some(usage),
        })
    }

    fn choice(
        &self,
        index: usize,
        text: String,
        logprobs: Option<CompletionLogprobs>,
        finish_reason: Option<WireFinish>,
    ) -> EventResult {
        self.chunk(vec![CompletionChoice { index, text, logprobs, finish_reason }], None)
    }

    /// The echo of the prompt, before the first token of a choice.
    fn begin(&mut self, index: usize, scores: &[TokenLogprobs]) -> Option<EventResult> {
        if std::mem::replace(&mut self.begun[index], true) {
            return None;
        }
        let prompt = &self.shape.prompts[index / self.shape.n];
        let echo = self.shape.echo(prompt).to_owned();
        let logprobs = self.shape.echo_logprobs(&self.service, prompt, scores);
        (!echo.is_empty() || logprobs.is_some()).then(|| self.choice(index, echo, logprobs, None))
    }
}

impl sse::Encoder for Encoder {
    fn update(&mut self, index: usize, update: Update) -> Vec<EventResult> {
        let scores = match &update {
            Update::Prompt(prefill) => &prefill.prompt_logprobs,
            Update::Token(_) => &[][..],
            // Where there was no token.
            Update::End(completion) => &completion.prompt_logprobs,
        };
        let mut events: Vec<_> = self.begin(index, scores).into_iter().collect();
        match update {
            Update::Prompt(_) => {}
            Update::Token(token) => {
                let logprobs = self.shape.logprobs.map(|_| {
                    let mut logprobs = CompletionLogprobs::default();
                    let (service, offset) = (&self.service, self.offsets[index]);
                    let tokens = std::slice::from_ref(&token);
                    self.offsets[index] = push_tokens(&mut logprobs, service, offset, tokens);
                    logprobs
                });
                if !token.token.is_empty() || logprobs.is_some() {
                    events.push(self.choice(index, token.token, logprobs, None));
                }
            }
            Update::End(completion) => {
                self.usage.add(&completion.usage, index.is_multiple_of(self.shape.n));
                let reason = WireFinish::of(&completion.finish_reason);
                events.push(self.choice(index, String::new(), None, reason));
            }
        }
        events
    }

    fn end(&mut self) -> Vec<EventResult> {
        let usage = self.wants_usage.then(|| self.chunk(Vec::new(), Some(self.usage)));
        usage.into_iter().chain([sse::done()]).collect()
    }
}
