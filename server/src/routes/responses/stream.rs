//! The stream of a response.

use slowburn::inference::Completion;

use super::{Answer, part};
use crate::error::{ApiError, ErrorBody};
use crate::sse::{self, EventResult};
use crate::updates::Update;
use crate::wire::{ChatTokenLogprob, EventBody, ResponseEvent, ResponseStatus};

/// Writes the events of a stream.
pub(super) struct Encoder {
    answer: Answer,
    /// The number of the next event.
    next: usize,
    text: String,
    logprobs: Vec<ChatTokenLogprob>,
}

impl Encoder {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, next: 0, text: String::new(), logprobs: Vec::new() }
    }

    fn event(&mut self, kind: &'static str, of: EventBody) -> EventResult {
        let sequence_number = self.next;
        self.next += 1;
        sse::named(kind, &ResponseEvent { kind, sequence_number, of })
    }

    fn part_event(
        &mut self,
        kind: &'static str,
        text: String,
        logprobs: Vec<ChatTokenLogprob>,
    ) -> EventResult {
        let item_id = self.answer.message_id.clone();
        let part = part(text, logprobs);
        self.event(kind, EventBody::Part { item_id, output_index: 0, content_index: 0, part })
    }

    /// What comes before the first token.
    fn begin(&mut self) -> Vec<EventResult> {
        let response = Box::new(self.answer.begun());
        let item = self.answer.message(ResponseStatus::InProgress, Vec::new());
        vec![
            self.event("response.created", EventBody::Response { response: response.clone() }),
            self.event("response.in_progress", EventBody::Response { response }),
            self.event("response.output_item.added", EventBody::Item { output_index: 0, item }),
            self.part_event("response.content_part.added", String::new(), Vec::new()),
        ]
    }

    /// What comes after the last token.
    fn finish(&mut self, completion: &Completion) -> Vec<EventResult> {
        let text = std::mem::take(&mut self.text);
        let logprobs = std::mem::take(&mut self.logprobs);
        let response = match self.answer.ended(text.clone(), logprobs.clone(), completion) {
            Ok(response) => response,
            Err(error) => return vec![sse::Encoder::fail(self, &error)],
        };
        let (kind, status) = match response.status {
            ResponseStatus::Completed => ("response.completed", ResponseStatus::Completed),
            _ => ("response.incomplete", ResponseStatus::Incomplete),
        };
        let item = self.answer.message(status, vec![part(text.clone(), logprobs.clone())]);
        let done = EventBody::Text {
            item_id: self.answer.message_id.clone(),
            output_index: 0,
            content_index: 0,
            text: text.clone(),
            logprobs: logprobs.clone(),
        };
        vec![
            self.event("response.output_text.done", done),
            self.part_event("response.content_part.done", text, logprobs),
            self.event("response.output_item.done", EventBody::Item { output_index: 0, item }),
            self.event(kind, EventBody::Response { response: Box::new(response) }),
        ]
    }
}

impl sse::Encoder for Encoder {
    fn update(&mut self, _: usize, update: Update) -> Vec<EventResult> {
        let mut events = if self.next == 0 {
            self.begin()
        } else {
            Vec::new()
        };
        match update {
            Update::Prompt(_) => {} // nobody has asked
            Update::Token(token) => {
                let logprobs = self.answer.token_logprobs(std::slice::from_ref(&token));
                self.text.push_str(&token.token);
                self.logprobs.extend(logprobs.clone());
                if !token.token.is_empty() || !logprobs.is_empty() {
                    let delta = EventBody::Delta {
                        item_id: self.answer.message_id.clone(),
                        output_index: 0,
                        content_index: 0,
                        delta: token.token,
                        logprobs,
                    };
                    events.push(self.event("response.output_text.delta", delta));
                }
            }
            Update::End(completion) => events.extend(self.finish(&completion)),
        }
        events
    }

    fn end(&mut self) -> Vec<EventResult> {
        Vec::new()
    }

    fn fail(&mut self, error: &ApiError) -> EventResult {
        let ErrorBody { error } = error.body();
        let (code, message, param) = (error.code, error.message.clone(), error.param.clone());
        self.event("error", EventBody::Failure { code, message, param, error })
    }
}
