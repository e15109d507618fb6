//! The stream of a response.

use slowburn::inference::Completion;

use super::Answer;
use super::output::{Events, Output};
use crate::error::{ApiError, ErrorBody};
use crate::sse::{self, EventResult};
use crate::updates::Update;
use crate::wire::{EventBody, ResponseEvent, ResponseStatus};

/// Writes the events of a stream.
pub(super) struct Encoder {
    answer: Answer,
    /// None behind its end.
    output: Option<Output>,
    /// The number of the next event.
    next: usize,
}

impl Encoder {
    pub(super) fn new(answer: Answer, output: Output) -> Self {
        Self { answer, output: Some(output), next: 0 }
    }

    fn event(&mut self, kind: &'static str, of: EventBody) -> EventResult {
        let sequence_number = self.next;
        self.next += 1;
        sse::named(kind, &ResponseEvent { kind, sequence_number, of })
    }

    fn encode(&mut self, events: Events) -> Vec<EventResult> {
        events.into_iter().map(|(kind, of)| self.event(kind, of)).collect()
    }

    /// What comes before the first token.
    fn begin(&self) -> Events {
        let response = Box::new(self.answer.begun.clone());
        vec![
            ("response.created", EventBody::Response { response: response.clone() }),
            ("response.in_progress", EventBody::Response { response }),
        ]
    }

    /// What comes after the last token.
    fn finish(&mut self, completion: &Completion) -> Vec<EventResult> {
        let ended = self.output.take().map(|output| self.answer.ended(output, completion));
        match ended {
            None => Vec::new(),
            Some(Err(error)) => vec![sse::Encoder::fail(self, &error)],
            Some(Ok((mut events, response))) => {
                let kind = match response.status {
                    ResponseStatus::Completed => "response.completed",
                    _ => "response.incomplete",
                };
                events.push((kind, EventBody::Response { response: Box::new(response) }));
                self.encode(events)
            }
        }
    }
}

impl sse::Encoder for Encoder {
    fn update(&mut self, _: usize, update: Update) -> Vec<EventResult> {
        let mut events = if self.next == 0 {
            self.encode(self.begin())
        } else {
            Vec::new()
        };
        match update {
            Update::Prompt(_) => {} // nobody has asked
            Update::Token(token) => {
                let logprobs = self.answer.token_logprobs(&token);
                let output = self.output.as_mut();
                let grown = output.map(|output| output.push(&token, logprobs));
                events.extend(self.encode(grown.unwrap_or_default()));
            }
            Update::End(completion) => events.extend(self.finish(&completion)),
        }
        events
    }

    fn fail(&mut self, error: &ApiError) -> EventResult {
        let ErrorBody { error } = error.body();
        let (code, message, param) = (error.code, error.message.clone(), error.param.clone());
        self.event("error", EventBody::Failure { code, message, param, error })
    }
}
